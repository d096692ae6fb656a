#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <string_view>

#include "spade_options.hpp"

namespace spikeweave::cli {

std::string describe(const std::vector<pattern_rule>& rules) {
    const auto of_one_size_each_another_unit = [](const pattern_rule& rule) {
        return rule.min_neu == rule.min_spikes &&
               (rule.max_spikes == rule.min_spikes || rule.max_spikes == 0);
    };
    std::string text;
    for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
        // `auto` has a rule for each size, of which the larger ones ask for the same.
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
                                      ? std::to_string(rule->min_spikes)
                                      : fmt::format("{} to {}", rule->min_spikes, last->max_spikes);
        const std::string units =
            rule == last ? fmt::format("{} or more", rule->min_neu) : "as many";
        text += fmt::format("{}{} ({} spikes of {} units)", text.empty() ? "" : "; ", rule->min_occ,
                            sizes, units);
        rule = last;
    }
    return text;
}

namespace {

void add_intervals(const joint_isi_options& joint, parameter_list& list) {
    list.emplace_back("isi_truncation", format_duration(joint.truncation_limit));
    list.emplace_back("isi_bins", joint.bins);
    list.emplace_back("isi_sigma", format_duration(joint.sigma));
    list.emplace_back("isi_steps", joint.steps == joint_isi_steps::fast ? "fast" : "window");
    list.emplace_back("isi_refractory", format_duration(joint.refractory_period));
    list.emplace_back("isi_sqrt", joint.use_sqrt);
    list.emplace_back("isi_in_turn", !joint.alternate);
    list.emplace_back("isi_cutoff", joint.cutoff);
}

parameter_value time_or_none(const std::optional<duration>& value) {
    return value ? parameter_value(format_duration(*value)) : parameter_value(nullptr);
}

parameter_value number_or_none(std::uint64_t value) {
    return value > 0 ? parameter_value(value) : parameter_value(nullptr);
}

std::string name_text(std::string_view name) {
    return std::string(name);
}

void add_tests(const spade_choices& choices, parameter_list& list) {
    const surrogate_options& surrogates = choices.surrogates;
    list.emplace_back("surrogates", surrogates.surrogates);
    if (surrogates.surrogates == 0) return;
    list.emplace_back("surrogate_method", name_text(to_string(surrogates.method)));
    list.emplace_back("dither", format_duration(surrogates.dither));
    list.emplace_back("edges", surrogates.edges == surrogate_edges::drop ? "drop" : "clamp");
    list.emplace_back("refractory", time_or_none(surrogates.refractory_period));
    list.emplace_back("sliding", surrogates.sliding);
    list.emplace_back("trials", surrogates.trials.size());
    list.emplace_back("trial_length", time_or_none(choices.trial_length));
    list.emplace_back("trial_separation",
                      time_or_none(choices.trial_length ? std::optional(choices.trial_separation)
                                                        : std::nullopt));
    if (surrogates.method == surrogate_method::joint_isi_dithering ||
        surrogates.method == surrogate_method::isi_dithering)
        add_intervals(surrogates.joint_isi, list);
    list.emplace_back("spectrum", name_text(to_string(choices.spectrum)));
    list.emplace_back("alpha", choices.alpha);
    list.emplace_back("correction", name_text(to_string(choices.correction)));
}

void add_stability(const spade_choices& choices, parameter_list& list) {
    if (!choices.stable) {
        list.emplace_back("stability", nullptr);
        return;
    }
    list.emplace_back("stability", fmt::format("{} subsets", subset_count(*choices.stable)));
    list.emplace_back("stability_threshold", fmt::format("{},{}", choices.least_stable.intensional,
                                                         choices.least_stable.extensional));
}

}  // namespace

parameter_list resolved_parameters(const spade_choices& choices,
                                   const std::vector<pattern_rule>& rules) {
    const bool estimated =
        choices.rules.empty() && std::holds_alternative<auto_min_occ>(choices.min_occ);
    parameter_list list{
        {"bin", format_duration(choices.bin)},
        {"window", choices.window},
        {"from", time_or_none(choices.from)},
        {"to", time_or_none(choices.until)},
        {"epochs", choices.epochs_path.empty() ? parameter_value(nullptr)
                                               : parameter_value(choices.epochs_path)},
        {"separation",
         time_or_none(choices.epochs.empty() ? std::nullopt
                                             : std::optional(choices.epochs_apart()))},
        {"only_units", choices.only_units.empty()
                           ? "all"
                           : fmt::format("{}", fmt::join(choices.only_units, ","))},
        {"min_occ_auto", estimated},
        {"rules", describe(rules)},
        {"max_occ", number_or_none(choices.max_occ)},
        {"subset_filter", !choices.keep_window_subsets},
        {"strategy", name_text(to_string(choices.strategy))}};
    add_tests(choices, list);
    list.emplace_back("reduce", choices.reduce ? parameter_value(fmt::format(
                                                     "{}", fmt::join(*choices.reduce, ",")))
                                               : parameter_value(nullptr));
    add_stability(choices, list);
    list.emplace_back("compat", choices.elephant == elephant_mode::none      ? "none"
                                : choices.elephant == elephant_mode::seconds ? "elephant"
                                                                             : "elephant-ms");
    list.emplace_back("max_memory_bytes", number_or_none(choices.max_memory_bytes));
    return list;
}

}  // namespace spikeweave::cli
