#include <fmt/format.h>

#include <iterator>
#include <string>
#include <vector>

#include "spikeweave/core/device.hpp"
#include "spikeweave/report/spade.hpp"

namespace spikeweave {
namespace {

// Shows rules as "86 (2 spikes of 2 or more units); 25 (3 or more spikes of as many units)"
std::string rules_text(const std::vector<pattern_rule>& rules) {
    const auto of_one_size_each_another_unit = [](const pattern_rule& rule) {
        return rule.min_neu == rule.min_spikes &&
               (rule.max_spikes == rule.min_spikes || rule.max_spikes == 0);
    };
    std::string text;
    for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
        // The estimate has a rule for each size; the rules of the larger sizes are the same.
        auto last = rule;
        if (of_one_size_each_another_unit(*rule))
            while (last->max_spikes != 0 && std::next(last) != rules.end() &&
                   of_one_size_each_another_unit(*std::next(last)) &&
                   std::next(last)->min_spikes == last->min_spikes + 1 &&
                   std::next(last)->min_occ == last->min_occ)
                ++last;
        const std::string sizes = last->max_spikes == 0
                                      ? fmt::format("{} or more", rule->min_spikes)
                                  : last->max_spikes == rule->min_spikes
                                      ? fmt::format("{}", rule->min_spikes)
                                      : fmt::format("{} to {}", rule->min_spikes, last->max_spikes);
        const std::string units =
            rule == last ? fmt::format("{} or more", rule->min_neu) : "as many";
        text += fmt::format("{}{} ({} spikes of {} units)", text.empty() ? "" : "; ", rule->min_occ,
                            sizes, units);
        rule = last;
    }
    return text;
}

std::string why_method(const pattern_report& report, const spade_options& asked) {
    if (asked.method) return "";
    if (report.surrogate.method == surrogate_method::trial_shifting)
        return " (chosen because there are trials)";
    if (follows_elephant(asked.compat)) return " (Elephant's default, because of `compat`)";
    return " (the default without trials)";
}

std::string devices_text(const run_record& run) {
    if (run.devices.empty()) return {};
    std::vector<int> ordinals;
    ordinals.reserve(run.devices.size());
    for (const device_info& one : run.devices) ordinals.push_back(one.ordinal);
    return fmt::format(", on {}", format_devices(ordinals));
}

}  // namespace

// The values are what nlohmann::json takes for a pattern with its numbers, for an item and for an
// occurrence, and their text.
std::uint64_t json_bytes(const pattern_report& report) {
    constexpr std::uint64_t per_pattern = 1500;
    constexpr std::uint64_t per_item = 250;
    constexpr std::uint64_t per_occurrence = 60;
    return per_pattern * report.table.size() + per_item * report.table.items.size() +
           per_occurrence * report.table.occurrences.size();
}

std::string summarize_search(const pattern_report& report, const spade_options& asked) {
    const bool estimated =
        asked.rules.empty() && std::holds_alternative<auto_min_occ>(asked.min_occ);
    std::string text =
        fmt::format("at least   {}{}\n", rules_text(report.mining.rules),
                    estimated ? " (estimated from the rates; `min_occ` sets others)" : "") +
        fmt::format("strategy   {}{}\n", to_string(report.ran_on),
                    asked.is_tested() ? "" : devices_text(report.run));
    if (asked.is_tested())
        text += fmt::format("surrogates {} by {}, dither {}{}{}\n", report.surrogate.surrogates,
                            to_string(report.surrogate.method),
                            format_duration(report.surrogate.dither), why_method(report, asked),
                            devices_text(report.run));
    return text + "\n";
}

}  // namespace spikeweave
