#include "spikeweave/report/compare/episodes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "io/result_folder.hpp"
#include "report/compare/findings.hpp"
#include "report/compare/graphml.hpp"
#include "report/episodes/view.hpp"
#include "report/result_files.hpp"
#include "report/text.hpp"

namespace spikeweave {
namespace report {
namespace {

// The table `differences.tsv`.
row finding_row(std::size_t number, const episode_change& one) {
    row out{{"finding", std::uint64_t{number}},
            {"size", std::uint64_t{one.what.size()}},
            {"units", joined_list<unit_id>{one.what.units, "→"}},
            {"delays", one.what.delays}};
    add_change(
        out, one,
        {{"found_a", std::uint64_t{one.found[0]}}, {"found_b", std::uint64_t{one.found[1]}}});
    out.push_back({"removed_a", one.removed[0]});
    out.push_back({"removed_b", one.removed[1]});
    return out;
}

result_table findings_table(const episode_comparison& result) {
    const auto& findings = result.findings;
    return {"differences", findings.size(),
            [&](std::size_t i) { return finding_row(i + 1, findings[i]); }, finding_row(0, {})};
}

}  // namespace
}  // namespace report

episode_comparison_report report_of(episode_comparison result, const execution& run) {
    return report::comparison_report<episode_comparison_report>(std::move(result), run);
}

void write_episode_comparison_report(const std::filesystem::path& folder,
                                     const episode_comparison_report& report, bool overwrite,
                                     const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episode_differences));
    out.write("differences.graphml", report::difference_graphml(report.result));
    report::write_result(out,
                         report::document_of(report::compared_in(report), report.run,
                                             report::findings_table(report.result)),
                         report.with_page, run);
    out.commit(run.stop);
}

std::string document_of(const episode_comparison_report& report, const execution& run) {
    return report::whole_text(report::document_of(report::compared_in(report), report.run,
                                                  report::findings_table(report.result)),
                              run);
}

std::string to_json(const episode_comparison_report& report) {
    return report::text_of(
        {{"run", report::comparison_json(report::compared_in(report), report.run)},
         {"findings",
          report::rows_of(report::findings_table(report.result), report.result.unit_names)}});
}

std::string summarize(const episode_comparison_report& report) {
    const episode_comparison& result = report.result;
    const std::string text = report::conditions_text(report::compared_in(report),
                                                     to_string(result.options.change_correction),
                                                     result.options.change_alpha);
    if (result.findings.empty()) return text + "\nNo edge or chain was found to compare.\n";
    std::vector<const condition_change*> findings;
    std::vector<std::string> names;
    findings.reserve(result.findings.size());
    names.reserve(result.findings.size());
    for (const episode_change& one : result.findings) {
        findings.push_back(&one);
        names.push_back(report::units_text(result.unit_names, one.what) + ' ' +
                        report::delays_text(one.what));
    }
    return text + report::changes_text(findings, names);
}

}  // namespace spikeweave
