#include "spikeweave/report/spade/conditions.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "io/result_folder.hpp"
#include "report/condition_page.hpp"
#include "report/finding_changes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace report {
namespace {

std::string pattern_differences_tsv(const pattern_comparison& result) {
    std::string out = "finding\tsize\tunits\tlags_ms" + change_heading() + '\n';
    std::size_t number = 0;
    for (const pattern_change& one : result.findings) {
        std::string units;
        std::string lags;
        for (const auto& [unit, lag] : one.what) {
            units += (units.empty() ? "" : ",") + unit;
            lags += (lags.empty() ? "" : ",") + milliseconds(result.bin * lag);
        }
        out += fmt::format("{}\t{}\t{}\t{}", ++number, one.what.size(), units, lags) +
               change_cells(one) + '\n';
    }
    return out;
}

// "n0 n1+5ms"
std::string name_of(const named_pattern& what, duration bin) {
    std::string text;
    for (const auto& [unit, lag] : what) {
        text += (text.empty() ? "" : " ") + unit;
        if (lag > 0) text += fmt::format("+{}ms", milliseconds(bin * lag));
    }
    return text;
}

json pattern_findings_json(const pattern_comparison& result) {
    json out = json::array();
    for (const pattern_change& one : result.findings) {
        json units = json::array();
        json lags = json::array();
        for (const auto& [unit, lag] : one.what) {
            units.push_back(unit);
            lags.push_back(ms(result.bin * lag));
        }
        out.push_back(condition_change_json(
            {{"finding", out.size() + 1}, {"units", units}, {"lags_ms", lags}}, one));
    }
    return out;
}

}  // namespace
}  // namespace report

pattern_condition_report report_of(pattern_comparison result, const execution& run) {
    return report::comparison_report<pattern_condition_report>(std::move(result), run);
}

void write_pattern_condition_report(const std::filesystem::path& folder,
                                    const pattern_condition_report& report, bool overwrite,
                                    const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::pattern_differences));
    out.write("differences.tsv", report::pattern_differences_tsv(report.result));
    out.write("run.json",
              report::text_of(report::comparison_json(report::compared_in(report), report.run)));
    if (report.with_page)
        out.write("report.html", page_of(report::condition_page_data(out.file(""), run)));
    out.commit(run.stop);
}

std::string to_json(const pattern_condition_report& report) {
    return report::text_of(
        {{"run", report::comparison_json(report::compared_in(report), report.run)},
         {"findings", report::pattern_findings_json(report.result)}});
}

std::string summarize(const pattern_condition_report& report) {
    const pattern_comparison& result = report.result;
    std::vector<const condition_change*> findings;
    std::vector<std::string> names;
    findings.reserve(result.findings.size());
    names.reserve(result.findings.size());
    for (const pattern_change& one : result.findings) {
        findings.push_back(&one);
        names.push_back(report::name_of(one.what, result.bin));
    }
    return report::conditions_text(report::compared_in(report),
                                   to_string(result.options.change_correction),
                                   result.options.change_alpha) +
           report::changes_text(findings, names);
}

}  // namespace spikeweave
