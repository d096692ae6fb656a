#include "spikeweave/report/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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
#include "report/text.hpp"

namespace spikeweave {
namespace report {
namespace {

json condition_json(const std::string& name, const condition_summary& of,
                    std::span<const input_record> inputs) {
    json files = json::array();
    for (const input_record& one : inputs) files.push_back(file_json(one));
    return {{"name", name},
            {"files", files},
            {"recordings", of.recordings},
            {"samples", of.samples},
            {"observed_s", to_seconds(of.observed)},
            {"spikes", of.spikes}};
}

std::string side_text(std::string_view name, const condition_summary& of, sample_kind kind) {
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

std::string text_of_pattern(const named_pattern& what, duration bin) {
    std::vector<std::pair<duration, std::string_view>> spikes;
    for (const auto& [unit, lag] : what) spikes.emplace_back(bin * lag, unit);
    return pattern_text(std::move(spikes));
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
        fmt::format("{} of {} changed beyond the firing rates between {} and {}, {} with them; {}.",
                    changed(change_kind::excess), plural(what.findings.size(), one, many),
                    report.names[0], report.names[1], changed(change_kind::rate),
                    level_text(what.options.change_correction, what.options.change_alpha)),
        warnings);
}

template <class Report>
json record_of(const Report& report) {
    const auto& what = report.result;
    json out = run_json(report.run, verdict_of(report), json::object());
    out["input"] = {{"a", condition_json(report.names[0], what.conditions[0], report.inputs[0])},
                    {"b", condition_json(report.names[1], what.conditions[1], report.inputs[1])},
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
    return verdict_of(report) + '\n' +
           side_text(report.names[0], what.conditions[0], what.samples) +
           side_text(report.names[1], what.conditions[1], what.samples) +
           fmt::format("{} {} labellings, smallest p {}; {}, alpha {}\n",
                       what.labellings.exact ? "all" : "random",
                       core::grouped(what.labellings.number), p_text(what.labellings.smallest_p),
                       to_string(what.options.change_correction), what.options.change_alpha);
}

// The findings as a table, what changed first.
template <class Report, class Name>
std::string findings_text(const Report& report, const Name& name_of) {
    constexpr std::size_t shown = 20;
    const auto& findings = report.result.findings;
    std::vector<std::size_t> order(findings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::tuple(findings[i].change == change_kind::none,
                          std::min(findings[i].excess_q, findings[i].rate_q));
    });
    // Two lines of headings: of a measure, and the conditions that it is of.
    const auto& [a, b] = report.names;
    std::vector<std::array<std::string, 8>> lines{
        {"", "", "excess", "", "rate", "", "count", "count"},
        {"finding", "change", b + " less " + a, "q", b + " by " + a, "q", a, b}};
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const auto& one = findings[order[k]];
        lines.push_back({name_of(one),
                         one.change == change_kind::none
                             ? "none"
                             : fmt::format("{} {}", to_string(one.change), direction_of(one)),
                         interval_words(one.excess.difference), p_text(one.excess_q),
                         interval_words(one.rate.ratio), p_text(one.rate_q),
                         core::grouped(one.counts[0]), core::grouped(one.counts[1])});
    }
    // A longer name has a line to itself.
    constexpr std::size_t longest_name = 26;
    std::array<std::size_t, 8> widths{};
    for (const auto& cells : lines)
        for (std::size_t c = 0; c < cells.size(); ++c)
            if (const std::size_t width = length_of(cells[c]); c > 0 || width <= longest_name)
                widths[c] = std::max(widths[c], width);
    std::string text;
    for (const auto& [name, change, excess, excess_q, rate, rate_q, of_a, of_b] : lines) {
        const bool fits = length_of(name) <= widths[0];
        if (!fits) text += "\n  " + name;
        text += fmt::format("\n  {:<{}}  {:<{}}  {:<{}}  {:>{}}  {:<{}}  {:>{}}  {:>{}}  {:>{}}",
                            fits ? name : "", widths[0], change, widths[1], excess, widths[2],
                            excess_q, widths[3], rate, widths[4], rate_q, widths[5], of_a,
                            widths[6], of_b, widths[7]);
    }
    if (order.size() > shown)
        text += fmt::format("\n  … and {} more", core::grouped(order.size() - shown));
    return text + '\n';
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

std::array<std::string, 2> condition_names(const std::filesystem::path& a,
                                           const std::filesystem::path& b) {
    const auto parts_of = [](const std::filesystem::path& path) {
        std::vector<std::filesystem::path> parts;
        for (const std::filesystem::path& part : path.lexically_normal())
            if (!part.empty()) parts.push_back(part);
        return parts;
    };
    const auto last = [](std::span<const std::filesystem::path> parts, std::size_t number) {
        std::filesystem::path out;
        for (const auto& part : parts.last(std::min(number, parts.size()))) out /= part;
        return core::printable_text(out.string());
    };
    const auto of_a = parts_of(a);
    const auto of_b = parts_of(b);
    if (!of_a.empty() && !of_b.empty())
        for (std::size_t n = 1; n <= std::max(of_a.size(), of_b.size()); ++n)
            if (last(of_a, n) != last(of_b, n)) return {last(of_a, n), last(of_b, n)};
    return {"a", "b"};
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
    std::string text = report::conditions_text(report);
    if (report.result.findings.empty()) return text;
    return text + report::findings_text(report, [&](const episode_change& one) {
               return report::chain_text(report.result.unit_names, one.what);
           });
}

std::string summarize(const pattern_comparison_report& report) {
    return report::conditions_text(report) +
           report::findings_text(report, [&](const pattern_change& one) {
               return report::text_of_pattern(one.what, report.result.bin);
           });
}

}  // namespace spikeweave
