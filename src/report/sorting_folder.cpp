#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>
#include <string_view>

#include "io/result_folder.hpp"
#include "report/sorting_parts.hpp"
#include "report/text.hpp"
#include "synfire/sort/files.hpp"
#include "synfire/spikes/files.hpp"

namespace synfire {
namespace {

constexpr std::array<std::string_view, 7> our_files{
    "sorting.npz", "sorting.clu.1",  "sorting.res.1", "spikes.npz",
    "units.tsv",   "iterations.tsv", "run.json"};

std::string units_tsv(const sorting_report& report) {
    std::string text = "unit\tclu_label\tspikes\tunmasked_features\tpeak_feature\n";
    for (std::size_t u = 0; u < report.units.size(); ++u) {
        const sorted_unit& unit = report.units[u];
        if (unit.spikes == 0) continue;
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\n", u + 1,
                       u + report.first_label, unit.spikes, report::number_text(unit.unmasked),
                       unit.peak_feature);
    }
    return text;
}

std::string iterations_tsv(const sorting_report& report) {
    std::string text =
        "iteration\tclusters\tchanged\tdeleted\tsplits\tlog_likelihood\tpenalty\tscore\n";
    for (std::size_t i = 0; i < report.search.iterations.size(); ++i) {
        const masked_gmm_iteration& one = report.search.iterations[i];
        // More digits than elsewhere: what is to be seen is how the score falls.
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{:.6f}\t{:.6f}\t{:.6f}\n",
                       i + 1, one.clusters, one.changed, one.deleted, one.splits,
                       -one.negated_log_likelihood, one.penalty, one.score());
    }
    return text;
}

}  // namespace

void write_sorting_report(const std::filesystem::path& folder, const sorting_report& report,
                          bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, our_files);
    write_sorting(out.file("sorting.npz"), report.sorted);
    write_clusters(out.file("sorting.clu.1"), report.sorted, report.first_label);
    if (!report.sorted.samples.empty()) write_samples(out.file("sorting.res.1"), report.sorted);
    if (report.sorted.has_times())
        write_spikes(out.file("spikes.npz"), to_spikes(report.sorted).spikes, run);
    out.write("units.tsv", units_tsv(report));
    out.write("iterations.tsv", iterations_tsv(report));
    out.write("run.json", report::text_of(report::sorting_run(report)));
    out.commit(run.stop);
}

}  // namespace synfire
