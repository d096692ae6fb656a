#include "report/compare/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/text.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
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
    return fmt::format("{}: {} {} of {:.6g} s, {} spikes\n", name, core::grouped(of.samples),
                       to_string(kind), to_seconds(of.observed), core::grouped(of.spikes));
}

std::string interval_words(const interval_estimate& of) {
    if (known_number(of.value) == "-") return "-";
    if (known_number(of.low) == "-") return fmt::format("{:.3g}", of.value);
    return fmt::format("{:.3g} ({:.3g} to {:.3g})", of.value, of.low, of.high);
}

// The measures and tests of a change, by the names of their columns.
std::array<std::pair<std::string_view, double>, 14> measures_of(const condition_change& one) {
    return {{{"rate_a_hz", one.rate.a},
             {"rate_b_hz", one.rate.b},
             {"rate_ratio", one.rate.ratio.value},
             {"rate_ratio_low", one.rate.ratio.low},
             {"rate_ratio_high", one.rate.ratio.high},
             {"rate_p", one.rate.p},
             {"rate_q", one.rate_q},
             {"excess_a", one.excess.a},
             {"excess_b", one.excess.b},
             {"excess_difference", one.excess.difference.value},
             {"excess_difference_low", one.excess.difference.low},
             {"excess_difference_high", one.excess.difference.high},
             {"excess_p", one.excess.p},
             {"excess_q", one.excess_q}}};
}

}  // namespace

std::string_view direction_of(const condition_change& finding) {
    if (finding.change == change_kind::none) return "same";
    const ratio_change& by = finding.change == change_kind::rate ? finding.rate : finding.excess;
    return by.b > by.a ? "up" : "down";
}

void add_change(row& to, const condition_change& one, row own) {
    to.push_back({"change", to_string(one.change)});
    to.push_back({"direction", direction_of(one)});
    for (column& each : own) to.push_back(std::move(each));
    to.push_back({"count_a", std::uint64_t{one.counts[0]}});
    to.push_back({"count_b", std::uint64_t{one.counts[1]}});
    to.push_back({"expected_a", one.expected[0]});
    to.push_back({"expected_b", one.expected[1]});
    to.push_back({"first_spikes_a", std::uint64_t{one.first_spikes[0]}});
    to.push_back({"first_spikes_b", std::uint64_t{one.first_spikes[1]}});
    for (const auto& [name, value] : measures_of(one))
        to.push_back({std::string(name),
                      std::isfinite(value) ? std::optional(value) : std::optional<double>{}});
}

json comparison_json(const compared_conditions& what, const run_record& run) {
    json out = run_json(run, json::object());
    out["input"] = {{"a", condition_json(what.conditions[0], what.inputs[0])},
                    {"b", condition_json(what.conditions[1], what.inputs[1])},
                    {"units", what.unit_names.size()},
                    {"warnings", run.warnings}};
    out["comparison"] = {{"samples", to_string(what.samples)},
                         {"labellings", what.labellings.number},
                         {"all_labellings", what.labellings.exact},
                         {"smallest_p", what.labellings.smallest_p},
                         {"findings", what.findings},
                         {"unit_names", what.unit_names}};
    return out;
}

document document_of(const compared_conditions& what, const run_record& run,
                     result_table findings) {
    return {.kind = "compare",
            .run = comparison_json(what, run),
            .unit_names = what.unit_names,
            .tables = {std::move(findings)}};
}

std::string conditions_text(const compared_conditions& what, std::string_view correction,
                            double alpha) {
    return side_text('a', what.conditions[0], what.samples) +
           side_text('b', what.conditions[1], what.samples) +
           fmt::format("{} {} labellings, smallest p {:.3g}; {}, alpha {}\n",
                       what.labellings.exact ? "all" : "random",
                       core::grouped(what.labellings.number), what.labellings.smallest_p,
                       correction, alpha);
}

std::string changes_text(const std::vector<const condition_change*>& findings,
                         const std::vector<std::string>& names) {
    constexpr std::size_t shown = 20;
    std::vector<std::size_t> order(findings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const condition_change& one = *findings[i];
        return std::tuple(one.change == change_kind::none, std::min(one.excess_q, one.rate_q));
    });
    const auto changed = std::ranges::count_if(
        findings, [](const condition_change* one) { return one->change != change_kind::none; });
    std::string text = fmt::format("\n{} of {} findings changed\n",
                                   core::grouped(static_cast<std::uint64_t>(changed)),
                                   core::grouped(order.size()));
    text += "change  occurrences a, b; times as often in b; difference of the excess; q of both\n";
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const condition_change& one = *findings[order[k]];
        text += fmt::format("{:<6} {:<4}  {}: {}, {}; {}; {}; {}, {}\n", to_string(one.change),
                            direction_of(one), names[order[k]], core::grouped(one.counts[0]),
                            core::grouped(one.counts[1]), interval_words(one.rate.ratio),
                            interval_words(one.excess.difference), p_text(one.rate_q),
                            p_text(one.excess_q));
    }
    if (order.size() > shown) text += fmt::format("{} more\n", core::grouped(order.size() - shown));
    return text;
}

}  // namespace spikeweave::report
