#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave {
namespace {

using enum surrogate_method;

void check_extent(const spade_options& options) {
    if (options.t_start && options.t_stop && *options.t_start >= *options.t_stop)
        throw invalid_argument(fmt::format("`t_start` {} is not before `t_stop` {}",
                                           format_duration(*options.t_start),
                                           format_duration(*options.t_stop)));
    if (options.separation && options.epochs.empty())
        throw invalid_argument("`separation` needs `epochs`");
    if (options.trial_separation != duration{0} && !options.trial_length)
        throw invalid_argument("`trial_separation` needs `trial_length`");
    // The gap between epochs is twice a window.
    if (options.bin.count() > std::numeric_limits<std::int64_t>::max() / 2 / options.window)
        throw invalid_argument(fmt::format("`window` {}: this many bins of {} are too long",
                                           options.window, format_duration(options.bin)));
}

void check_thresholds_by_size(const min_occ_by_size& given, const spade_options& options) {
    if (given.empty()) throw invalid_argument("`min_occ` names no size");
    std::uint32_t before = 0;
    for (const auto& [spikes, occurrences] : given) {
        if (occurrences == 0) throw invalid_argument("min_occ", "expected numbers above 0");
        if (spikes <= before)
            throw invalid_argument(
                fmt::format("the sizes in `min_occ` must ascend from 1 on, and {} comes after {}",
                            spikes, before));
        before = spikes;
    }
    if (rules_of(options, {}, {}).empty())
        throw invalid_argument(fmt::format(
            "`max_spikes` {} is below all sizes that `min_occ` names: the smallest is {}",
            options.max_spikes, given.front().first));
}

void check_rules(const spade_options& options, bool has_spikes) {
    const bool is_auto = std::holds_alternative<auto_min_occ>(options.min_occ);
    if (!options.rules.empty()) {
        if (!is_auto) throw invalid_argument("rules", "cannot be given together with `min_occ`");
        return;
    }
    if (!has_spikes && is_auto)
        throw invalid_argument(
            "`min_occ` auto needs spikes, since windows do not contain the rates: give a number");
    if (const auto* number = std::get_if<std::uint32_t>(&options.min_occ); number && *number == 0)
        throw invalid_argument("min_occ", "expected a whole number of at least 1, found 0");
    const auto* by_size = std::get_if<min_occ_by_size>(&options.min_occ);
    const bool given = options.min_spikes.has_value();
    if (options.max_spikes > 0 && options.max_spikes < options.least_spikes() &&
        (given || !by_size))
        throw invalid_argument(fmt::format("`max_spikes` {} is below `min_spikes` {}{}",
                                           options.max_spikes, options.least_spikes(),
                                           given ? "" : ", which it is by default"));
    if (by_size) check_thresholds_by_size(*by_size, options);
}

// The methods that use an option; empty if it is for all of them.
std::vector<surrogate_method> methods_with(std::string_view name) {
    if (name == "sliding") return {bin_shuffling};
    if (name == "refractory") return {dither_spikes_with_refractory_period};
    if (name == "edges") return {dither_spikes, dither_spike_train};
    if (name == "trial_length") return {trial_shifting};
    if (name.starts_with("isi_")) return {joint_isi_dithering, isi_dithering};
    return {};
}

// An option that the method does not use must have its default, as in Elephant.
void check_method_options(spade_options options) {
    const surrogate_method method = options.method.value_or(options.usual_method());
    spade_options usual;
    const option_list defaults = describe(usual);
    for (const option& one : describe(options)) {
        const std::vector<surrogate_method> methods = methods_with(one.name);
        if (methods.empty() || std::ranges::find(methods, method) != methods.end() ||
            one.get() == defaults.find(one.name).get())
            continue;
        std::vector<std::string_view> names;
        names.reserve(methods.size());
        for (const surrogate_method known : methods) names.push_back(to_string(known));
        throw invalid_argument(
            fmt::format("`{}` is for `surrogate_method` {}, and surrogates are made by {}{}",
                        one.name, fmt::join(names, " or "), to_string(method),
                        options.method ? "" : " unless another is named"));
    }
}

void check_surrogates(const spade_options& options, bool has_spikes) {
    if (!options.is_tested()) {
        if (options.surrogates.seed != 0 && !options.stability)
            throw invalid_argument(
                "`seed` needs `surrogates` or `stability`: nothing else is random");
        if (options.run.devices && !options.run.devices->empty() &&
            options.strategy == spade_strategy::fp_growth)
            throw invalid_argument(
                "`device` needs `surrogates` with FP-growth, which searches the data on the CPU");
        return;
    }
    if (!has_spikes)
        throw invalid_argument("`surrogates` are made from spikes, but only windows are given");
    if (options.method.value_or(options.usual_method()) == trial_shifting &&
        options.epochs.empty() && !options.trial_length)
        throw invalid_argument(
            "trial-shifting needs to know the trials: give `epochs` or `trial_length`");
    check_method_options(options);
}

}  // namespace

surrogate_method spade_options::usual_method() const {
    if (!epochs.empty() || trial_length) return trial_shifting;
    return follows_elephant(compat) ? dither_spikes : dither_spikes_with_refractory_period;
}

void check_spade(const spade_options& options, bool has_spikes) {
    check_options(options);
    check_extent(options);
    check_rules(options, has_spikes);
    check_surrogates(options, has_spikes);
    if (!options.stability && options.stability_threshold != stability{})
        throw invalid_argument("`stability_threshold` needs `stability`");
}

}  // namespace spikeweave
