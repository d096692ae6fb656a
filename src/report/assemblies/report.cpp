#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/grouped.hpp"
#include "io/result_folder.hpp"
#include "report/assemblies/page_data.hpp"
#include "report/page_spikes.hpp"
#include "report/recorded_part.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/assemblies.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace {

using report::number_text;

std::string names_text(const spike_sequence& spikes, const assembly& one) {
    std::vector<std::string_view> names;
    for (const unit_id unit : one.units) names.push_back(spikes.name(unit));
    return fmt::format("{}", fmt::join(names, "+"));
}

std::string lags_text(const assembly& one) {
    std::vector<std::string> lags;
    for (const std::int32_t lag : one.lags) lags.push_back(report::milliseconds(one.bin * lag));
    return fmt::format("{}", fmt::join(lags, " "));
}

std::string assemblies_tsv(const assembly_report& from) {
    std::string out =
        "assembly\tsize\tunits\tlags_ms\tbin_ms\tcount\tp\tp_corrected\tcount_by_size\tp_by_size\n";
    for (std::size_t i = 0; i < from.found.assemblies.size(); ++i) {
        const assembly& one = from.found.assemblies[i];
        std::vector<std::string> p;
        for (const double value : one.p) p.push_back(number_text(value));
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", i + 1,
                       one.units.size(), names_text(from.spikes, one), lags_text(one),
                       report::milliseconds(one.bin), one.counts.back(), p.back(),
                       number_text(one.p_corrected), fmt::join(one.counts, " "), fmt::join(p, " "));
    }
    return out;
}

std::string activations_tsv(const assembly_report& from) {
    std::string out = "assembly\tbegin_s\tcount\n";
    for (std::size_t i = 0; i < from.found.assemblies.size(); ++i)
        for (const assembly_activation& active : from.found.assemblies[i].activations)
            fmt::format_to(std::back_inserter(out), "{}\t{:.6f}\t{}\n", i + 1,
                           to_seconds(active.begin), active.count);
    return out;
}

std::string search_tsv(const assembly_report& from) {
    std::string out = "bin_ms\tsize\ttests\tsignificant\tkept\n";
    for (const assembly_step& step : from.found.steps)
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\n",
                       report::milliseconds(step.bin), step.size, step.tests, step.significant,
                       step.kept);
    return out;
}

report::json run_of(const assembly_report& from) {
    report::json out = report::run_json(from.run, report::contents_of(from.spikes));
    out.erase("seed");  // nothing is drawn
    out["assemblies"] = {{"assemblies", from.found.assemblies.size()}};
    return out;
}

report::json assembly_json(const spike_sequence& spikes, const assembly& one) {
    report::json lags = report::json::array();
    for (const std::int32_t lag : one.lags) lags.push_back(report::ms(one.bin * lag));
    report::json activations = report::json::array();
    for (const assembly_activation& active : one.activations)
        activations.push_back({{"begin_s", to_seconds(active.begin)}, {"count", active.count}});
    return {{"units", report::names_json(spikes.unit_names(), one.units)},
            {"lags_ms", lags},
            {"bin_ms", report::ms(one.bin)},
            {"count", one.counts.back()},
            {"p", one.p.back()},
            {"p_corrected", one.p_corrected},
            {"count_by_size", one.counts},
            {"p_by_size", one.p},
            {"activations", activations}};
}

report::json search_of(const assembly_report& from) {
    report::json out = report::json::array();
    for (const assembly_step& step : from.found.steps)
        out.push_back({{"bin_ms", report::ms(step.bin)},
                       {"size", step.size},
                       {"tests", step.tests},
                       {"significant", step.significant},
                       {"kept", step.kept}});
    return out;
}

}  // namespace

assembly_report report_of(spike_sequence spikes, assembly_result result, const execution& run) {
    assembly_report out{.spikes = std::move(result.part ? *result.part : spikes),
                        .found = std::move(result.found)};
    execution used = run;
    used.threads = result.options.run.threads;
    record_run(out.run, describe(result.options), {}, used, {});
    out.run.warnings = std::move(result.warnings);
    out.run.seconds = result.seconds;
    return out;
}

void write_assembly_report(const std::filesystem::path& folder, const assembly_report& report,
                           bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::assemblies));
    out.write("assemblies.tsv", assemblies_tsv(report));
    out.write("activations.tsv", activations_tsv(report));
    out.write("search.tsv", search_tsv(report));
    out.write("run.json", report::text_of(run_of(report)));
    if (report.with_page && report.spikes.size() <= report::most_spikes_of_a_page)
        out.write("report.html",
                  page_of(report::assembly_page_data(out.file(""), report.spikes, run)));
    out.commit(run.stop);
}

std::string to_json(const assembly_report& report) {
    report::json assemblies = report::json::array();
    for (const assembly& one : report.found.assemblies) {
        report::json found = assembly_json(report.spikes, one);
        report::json numbered{{"assembly", assemblies.size() + 1}};
        numbered.update(found);
        assemblies.push_back(std::move(numbered));
    }
    return report::text_of(
        {{"run", run_of(report)}, {"assemblies", assemblies}, {"search", search_of(report)}});
}

std::string summarize(const assembly_report& from) {
    constexpr std::size_t most_rows = 20;
    const auto& all = from.found.assemblies;
    std::string out =
        fmt::format("{} of {} in {:.6g} s\n", report::plural(all.size(), "assembly", "assemblies"),
                    report::plural(from.spikes.unit_count(), "unit", "units"),
                    to_seconds(from.spikes.observed_time()));
    if (all.empty()) return out;
    out += "units     bin    count  corrected p  units and their lags in ms\n";
    for (std::size_t i = 0; i < std::min(most_rows, all.size()); ++i) {
        const assembly& one = all[i];
        fmt::format_to(std::back_inserter(out), "{:>5} {:>7} {:>8} {:>12}  {}: {}\n",
                       one.units.size(), format_duration(one.bin), core::grouped(one.counts.back()),
                       report::p_text(one.p_corrected), names_text(from.spikes, one),
                       lags_text(one));
    }
    if (all.size() > most_rows)
        out +=
            fmt::format("… and {} more in assemblies.tsv\n", core::grouped(all.size() - most_rows));
    return out;
}

}  // namespace spikeweave
