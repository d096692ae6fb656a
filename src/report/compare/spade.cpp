#include "spikeweave/report/compare/spade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "io/result_folder.hpp"
#include "report/compare/findings.hpp"
#include "report/result_files.hpp"
#include "report/text.hpp"

namespace spikeweave {
namespace report {
namespace {

// The table `differences.tsv`.
row finding_row(const pattern_comparison& result, std::size_t number, const pattern_change& one) {
    joined_list<unit_id> units{{}, ","};
    joined_list<duration> lags{{}, ","};
    for (const auto& [unit, lag] : one.what) {
        const auto at = std::ranges::find(result.unit_names, unit);
        units.items.push_back(unit_id{static_cast<std::uint32_t>(at - result.unit_names.begin())});
        lags.items.push_back(result.bin * lag);
    }
    row out{{"finding", std::uint64_t{number}},
            {"size", std::uint64_t{one.what.size()}},
            {"units", std::move(units)},
            {"lags_ms", std::move(lags)}};
    add_change(out, one);
    return out;
}

result_table findings_table(const pattern_comparison& result) {
    const auto& findings = result.findings;
    return {"differences", findings.size(),
            [&](std::size_t i) { return finding_row(result, i + 1, findings[i]); },
            finding_row(result, 0, {})};
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

}  // namespace
}  // namespace report

pattern_comparison_report report_of(pattern_comparison result, const execution& run) {
    return report::comparison_report<pattern_comparison_report>(std::move(result), run);
}

void write_pattern_comparison_report(const std::filesystem::path& folder,
                                     const pattern_comparison_report& report, bool overwrite,
                                     const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::pattern_differences));
    report::write_result(out,
                         report::document_of(report::compared_in(report), report.run,
                                             report::findings_table(report.result)),
                         report.with_page, run);
    out.commit(run.stop);
}

std::string document_of(const pattern_comparison_report& report, const execution& run) {
    return report::whole_text(report::document_of(report::compared_in(report), report.run,
                                                  report::findings_table(report.result)),
                              run);
}

std::string to_json(const pattern_comparison_report& report) {
    return report::text_of(
        {{"run", report::comparison_json(report::compared_in(report), report.run)},
         {"findings",
          report::rows_of(report::findings_table(report.result), report.result.unit_names)}});
}

std::string summarize(const pattern_comparison_report& report) {
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
