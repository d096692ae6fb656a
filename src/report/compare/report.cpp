#include "spikeweave/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "io/result_folder.hpp"
#include "report/described_tables.hpp"
#include "report/document.hpp"
#include "report/episodes/view.hpp"
#include "report/result_files.hpp"

namespace spikeweave {
namespace report {
namespace {

json condition_json(const condition_summary& of, std::span<const input_record> inputs) {
    json files = json::array();
    for (const input_record& one : inputs) files.push_back(file_json(one));
    return {{"files", files},
            {"recordings", of.recordings},
            {"samples", of.samples},
            {"observed_s", to_seconds(of.observed)},
            {"spikes", of.spikes}};
}

std::string side_text(char name, const condition_summary& of, sample_kind kind) {
    return fmt::format("{}: {} {} of {}, {} spikes\n", name, core::grouped(of.samples),
                       to_string(kind), time_text(of.observed), core::grouped(of.spikes));
}

std::string interval_words(const interval_estimate& of) {
    std::string value = shown_number(of.value);
    if (!std::isfinite(of.value) || !std::isfinite(of.low)) return value;
    return fmt::format("{} ({} to {})", value, shown_number(of.low), shown_number(of.high));
}

// "up", "down" or "same", by the sign of a change that is significant.
std::string_view direction_of(const condition_change& finding) {
    if (finding.change == change_kind::none) return "same";
    const ratio_change& by = finding.change == change_kind::rate ? finding.rate : finding.excess;
    return by.b > by.a ? "up" : "down";
}

// Adds the columns that follow what a finding is, from `change` on; `own` are after `direction`.
void add_change(row& to, const condition_change& one, row own = {}) {
    to.push_back({"change", to_string(one.change),
                  "`excess`, `rate` (as the rates of the units explain) or `none`"});
    to.push_back({"direction", direction_of(one), "from a to b: `up`, `down` or `same`"});
    for (column& each : own) to.push_back(std::move(each));
    for (column& each : described_row(one)) {
        const double* const value = std::get_if<double>(&each.value);
        if (value != nullptr && !std::isfinite(*value)) each.value = std::optional<double>{};
        to.push_back(std::move(each));
    }
}

// The table `differences.tsv`.
row finding_row(std::size_t number, const episode_change& one) {
    row out{{"finding", std::uint64_t{number}, "the number of the finding"},
            {"size", std::uint64_t{one.what.size()}, "as in `episodes.tsv`"},
            {"units", joined_list<unit_id>{one.what.units, "→"}},
            {"delays", one.what.delays}};
    add_change(out, one,
               {{"found_a", std::uint64_t{one.found[0]},
                 "the searches of each condition that found it, with `--findings either`"},
                {"found_b", std::uint64_t{one.found[1]}}});
    out.push_back({"removed_a", one.removed[0],
                   "how many occurrences the rotation would remove if each spike of the first unit "
                   "had one"});
    out.push_back({"removed_b", one.removed[1]});
    return out;
}

result_table findings_table(const episode_comparison& result) {
    const auto& findings = result.findings;
    return {"differences", findings.size(),
            [&](std::size_t i) { return finding_row(i + 1, findings[i]); }, finding_row(0, {})};
}

// The pairs as a graph, with the changes of their edges.
std::string difference_graphml(const episode_comparison& result) {
    std::vector<const episode_change*> pairs;
    for (const episode_change& one : result.findings)
        if (one.what.size() == 2) pairs.push_back(&one);
    const auto known = [](double value) {
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    };
    const auto edge_row = [known](const episode_change& one) {
        return row{{"from", one.what.units[0]},       {"to", one.what.units[1]},
                   {"delay", one.what.delays[0]},     {"rate_ratio", known(one.rate.ratio.value)},
                   {"rate_q", known(one.rate_q)},     {"excess_a", known(one.excess.a)},
                   {"excess_b", known(one.excess.b)}, {"excess_q", known(one.excess_q)},
                   {"change", to_string(one.change)}, {"direction", direction_of(one)}};
    };
    episode_change none;
    none.what = {std::vector<unit_id>(2), std::vector<delay_interval>(1)};
    return graphml_of("differences", result.unit_names,
                      {"units", 0, [](std::size_t) { return row{}; }, {}},
                      {"differences", pairs.size(),
                       [&](std::size_t i) { return edge_row(*pairs[i]); }, edge_row(none)});
}

row finding_row(const pattern_comparison& result, std::size_t number, const pattern_change& one) {
    joined_list<unit_id> units{{}, ","};
    joined_list<duration> lags{{}, ","};
    for (const auto& [unit, lag] : one.what) {
        const auto at = std::ranges::find(result.unit_names, unit);
        units.items.push_back(unit_id{static_cast<std::uint32_t>(at - result.unit_names.begin())});
        lags.items.push_back(result.bin * lag);
    }
    row out{{"finding", std::uint64_t{number}, "the number of the finding"},
            {"size", std::uint64_t{one.what.size()}, "as in `patterns.tsv`"},
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

// @param one, many  words for a finding
template <class Comparison>
std::string verdict_text(const comparison_report<Comparison>& report, std::string_view one,
                         std::string_view many) {
    const Comparison& what = report.result;
    const std::size_t warnings = report.run.warnings.size();
    if (what.findings.empty())
        return with_warnings(fmt::format("No {} was found to compare.", one), warnings);
    const auto changed = [&](change_kind kind) {
        const auto number = std::ranges::count_if(
            what.findings, [kind](const condition_change& each) { return each.change == kind; });
        return core::grouped(static_cast<std::uint64_t>(number));
    };
    return with_warnings(
        fmt::format("{} of {} changed beyond the firing rates between a and b, {} with them; {}.",
                    changed(change_kind::excess), plural(what.findings.size(), one, many),
                    changed(change_kind::rate),
                    level_text(what.options.change_correction, what.options.change_alpha)),
        warnings);
}

template <class Report>
json record_of(const Report& report) {
    const auto& what = report.result;
    json out = run_json(report.run, verdict_of(report), json::object());
    out["input"] = {{"a", condition_json(what.conditions[0], report.inputs[0])},
                    {"b", condition_json(what.conditions[1], report.inputs[1])},
                    {"units", what.unit_names.size()},
                    {"warnings", report.run.warnings}};
    out["comparison"] = {
        {"samples", to_string(what.samples)},      {"labellings", what.labellings.number},
        {"all_labellings", what.labellings.exact}, {"smallest_p", what.labellings.smallest_p},
        {"findings", what.findings.size()},        {"unit_names", what.unit_names}};
    return out;
}

template <class Report>
document document_from(const Report& report) {
    return {.kind = "compare",
            .run = record_of(report),
            .unit_names = report.result.unit_names,
            .tables = {findings_table(report.result)}};
}

template <class Report>
std::string json_text(const Report& report) {
    return text_of(
        {{"run", record_of(report)},
         {"findings", rows_of(findings_table(report.result), report.result.unit_names)}});
}

template <class Comparison>
comparison_report<Comparison> recorded(Comparison result, const execution& run) {
    comparison_report<Comparison> report;
    record_result(report.run, result, describe(result.options), result.options.permutation.seed,
                  run, result.options.run.threads);
    report.result = std::move(result);
    return report;
}

// The conditions and the labellings as lines.
template <class Report>
std::string conditions_text(const Report& report) {
    const auto& what = report.result;
    return verdict_of(report) + '\n' + side_text('a', what.conditions[0], what.samples) +
           side_text('b', what.conditions[1], what.samples) +
           fmt::format("{} {} labellings, smallest p {}; {}, alpha {}\n",
                       what.labellings.exact ? "all" : "random",
                       core::grouped(what.labellings.number), p_text(what.labellings.smallest_p),
                       to_string(what.options.change_correction), what.options.change_alpha);
}

// The findings as lines, what changed first.
template <class Comparison, class Name>
std::string findings_text(const Comparison& what, const Name& name_of) {
    constexpr std::size_t shown = 20;
    const auto& findings = what.findings;
    std::vector<std::size_t> order(findings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::tuple(findings[i].change == change_kind::none,
                          std::min(findings[i].excess_q, findings[i].rate_q));
    });
    constexpr std::string_view row = "{:<12} {:>8} {:>8}  {:<22} {:>11}  {:<28} {:>11}  {}\n";
    std::string text = '\n' + fmt::format(row, "change", "count a", "count b", "rate b / rate a",
                                          "q", "excess b − excess a", "q", "finding");
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const auto& one = findings[order[k]];
        text +=
            fmt::format(row, fmt::format("{} {}", to_string(one.change), direction_of(one)),
                        core::grouped(one.counts[0]), core::grouped(one.counts[1]),
                        interval_words(one.rate.ratio), p_text(one.rate_q),
                        interval_words(one.excess.difference), p_text(one.excess_q), name_of(one));
    }
    if (order.size() > shown) text += fmt::format("{} more\n", core::grouped(order.size() - shown));
    return text;
}

}  // namespace

std::vector<result_table> tables_of(const episode_comparison_report& from) {
    return {findings_table(from.result)};
}

}  // namespace report

episode_comparison_report report_of(episode_comparison result, const execution& run) {
    return report::recorded(std::move(result), run);
}

pattern_comparison_report report_of(pattern_comparison result, const execution& run) {
    return report::recorded(std::move(result), run);
}

std::string verdict_of(const episode_comparison_report& report) {
    return report::verdict_text(report, "connection or chain", "connections and chains");
}

std::string verdict_of(const pattern_comparison_report& report) {
    return report::verdict_text(report, "pattern", "patterns");
}

void write_report(const std::filesystem::path& folder, const episode_comparison_report& report,
                  bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episode_differences));
    out.write("differences.graphml", report::difference_graphml(report.result));
    report::write_result(out, report::document_from(report), report.with_page, run);
    out.commit(run.stop);
}

void write_report(const std::filesystem::path& folder, const pattern_comparison_report& report,
                  bool overwrite, const execution& run) {
    report::write_folder(folder, result_kind::pattern_differences, report::document_from(report),
                         report.with_page, overwrite, run);
}

std::string document_of(const episode_comparison_report& report, const execution& run) {
    return report::whole_text(report::document_from(report), run);
}

std::string document_of(const pattern_comparison_report& report, const execution& run) {
    return report::whole_text(report::document_from(report), run);
}

std::string to_json(const episode_comparison_report& report) {
    return report::json_text(report);
}

std::string to_json(const pattern_comparison_report& report) {
    return report::json_text(report);
}

std::string summarize(const episode_comparison_report& report) {
    const episode_comparison& result = report.result;
    std::string text = report::conditions_text(report);
    if (result.findings.empty()) return text;
    return text + report::findings_text(result, [&](const episode_change& one) {
               return report::chain_text(result.unit_names, one.what);
           });
}

std::string summarize(const pattern_comparison_report& report) {
    return report::conditions_text(report) +
           report::findings_text(report.result, [&](const pattern_change& one) {
               return report::name_of(one.what, report.result.bin);
           });
}

}  // namespace spikeweave
