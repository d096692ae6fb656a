#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/assess/surrogate_numbers.hpp"
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
            "`min_occ=auto` needs spikes, since windows do not contain the rates: give a number");
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

namespace spikeweave::pipeline {
namespace {

struct test_counts {
    std::uint64_t tested = 0;
    std::uint64_t significant = 0;
    std::uint64_t undecided = 0;  // reached by no surrogate, and still not significant
    std::uint64_t untested = 0;   // significant without a test
};

test_counts counted(const signature_test_result& tests) {
    test_counts out;
    for (const signature_test& one : tests.signatures) {
        out.tested += one.tested ? 1 : 0;
        out.significant += one.significant ? 1 : 0;
        if (one.reason != test_reason::absent) continue;
        out.undecided += one.significant ? 0 : 1;
        out.untested += one.tested ? 0 : 1;
    }
    return out;
}

void warn_of_too_few_surrogates(const test_counts& counts, const spade_input& prepared,
                                const spade_options& options, std::vector<std::string>& warnings) {
    const std::uint32_t surrogates = prepared.surrogates.surrogates;
    if (counts.undecided > 0) {
        warnings.push_back(fmt::format(
            "{} of {} signatures tested were reached by no surrogate, and still are not "
            "significant: {} surrogates are too few for so many tests. {} would be enough for any "
            "one of them.",
            core::grouped(counts.undecided), core::grouped(counts.tested),
            core::grouped(surrogates),
            core::grouped(fewest_surrogates(counts.tested, level_of(options)))));
        return;
    }
    if (counts.significant > 0) return;
    if (auto warning =
            warn_of_many_tests("signature", surrogates, counts.tested, level_of(options)))
        warnings.push_back(std::move(*warning));
}

void warn_of_untested(const test_counts& counts, const pattern_test_result& assessment,
                      const spade_input& prepared, std::vector<std::string>& warnings) {
    if (counts.untested == 0) return;
    warnings.push_back(fmt::format(
        "{} of {} signatures are kept without a test, as in Elephant, because none of {} "
        "surrogates reached them{}.",
        core::grouped(counts.untested), core::grouped(assessment.tests.signatures.size()),
        core::grouped(prepared.surrogates.surrogates),
        prepared.surrogates.method == surrogate_method::dither_spikes
            ? ", and surrogates by dither-spikes give false patterns if units are regular"
            : ""));
}

}  // namespace

test_level level_of(const spade_options& options) {
    return {options.alpha, options.correction, level_rule::at_most};
}

// Since p is never below 1 / (n + 1), a correction for many tests may need more surrogates.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings) {
    const test_counts counts = counted(assessment.tests);
    if (follows_elephant(options.compat))
        warn_of_untested(counts, assessment, prepared, warnings);
    else
        warn_of_too_few_surrogates(counts, prepared, options, warnings);
}

void warn_of_fragments(std::size_t significant, const spade_options& options,
                       std::vector<std::string>& warnings) {
    constexpr std::size_t many = 100;
    if (!options.is_tested() || significant <= many) return;
    warnings.push_back(
        fmt::format("{} patterns are significant. Many of them may be fragments or by-products of "
                    "others, which `reduce=2,2,2` leaves out.",
                    core::grouped(significant)));
}

}  // namespace spikeweave::pipeline
