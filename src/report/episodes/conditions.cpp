#include "spikeweave/report/episodes/conditions.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "io/result_folder.hpp"
#include "report/condition_page.hpp"
#include "report/episodes/difference_circuit.hpp"
#include "report/episodes/parts.hpp"
#include "report/finding_changes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace report {
namespace {

std::string differences_tsv(const condition_comparison& result) {
    std::string out = "finding\tsize\tunits\tdelays" + change_heading("\tfound_a\tfound_b") +
                      "\tremoved_a\tremoved_b\n";
    std::size_t number = 0;
    for (const episode_change& one : result.findings)
        out += fmt::format("{}\t{}\t{}\t{}", ++number, one.what.size(),
                           units_text(result.unit_names, one.what), delays_text(one.what)) +
               change_cells(one, fmt::format("\t{}\t{}", one.found[0], one.found[1])) +
               fmt::format("\t{}\t{}\n", number_text(one.removed[0]), number_text(one.removed[1]));
    return out;
}

json findings_json(const condition_comparison& result) {
    json out = json::array();
    for (const episode_change& one : result.findings)
        out.push_back(
            condition_change_json({{"finding", out.size() + 1},
                                   {"units", names_json(result.unit_names, one.what.units)},
                                   {"delays_ms", ms(one.what.delays)},
                                   {"found_a", one.found[0]},
                                   {"found_b", one.found[1]},
                                   {"removed_a", one.removed[0]},
                                   {"removed_b", one.removed[1]}},
                                  one));
    return out;
}

}  // namespace
}  // namespace report

condition_report report_of(condition_comparison result, const execution& run) {
    return report::comparison_report<condition_report>(std::move(result), run);
}

void write_condition_report(const std::filesystem::path& folder, const condition_report& report,
                            bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episode_differences));
    out.write("differences.tsv", report::differences_tsv(report.result));
    out.write("differences.graphml", report::difference_graphml(report.result));
    out.write("differences.svg", report::difference_svg(report.result));
    out.write("run.json",
              report::text_of(report::comparison_json(report::compared_in(report), report.run)));
    if (report.with_page)
        out.write("report.html", page_of(report::condition_page_data(out.file(""), run)));
    out.commit(run.stop);
}

std::string to_json(const condition_report& report) {
    return report::text_of(
        {{"run", report::comparison_json(report::compared_in(report), report.run)},
         {"findings", report::findings_json(report.result)}});
}

std::string summarize(const condition_report& report) {
    const condition_comparison& result = report.result;
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
