#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "spikeweave/assess/pattern_search.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

void check_windows(const spade_options& request) {
    if (request.bin <= duration{0})
        throw invalid_argument(fmt::format("{} must be above 0, not {}", request.name_of("bin"),
                                           format_duration(request.bin)));
    if (request.window == 0)
        throw invalid_argument(
            fmt::format("{} must be at least 1 bin, not 0", request.name_of("window")));
    // The gap between epochs is twice a window.
    if (request.bin.count() > std::numeric_limits<std::int64_t>::max() / 2 / request.window)
        throw invalid_argument(fmt::format("{} {}: so many bins of {} are too long to be held",
                                           request.name_of("window"), request.window,
                                           format_duration(request.bin)));
}

void check_extent(const spade_options& request) {
    if (request.from && request.until && *request.from >= *request.until)
        throw invalid_argument(fmt::format("{} {} is not before {} {}", request.name_of("from"),
                                           format_duration(*request.from), request.name_of("until"),
                                           format_duration(*request.until)));
    if (!request.epochs.empty() && (request.from || request.until || request.trial_length))
        throw invalid_argument(fmt::format(
            "{} say what is searched and what trials are: {} is for recordings without them",
            request.name_of("epochs"),
            request.name_of(request.from    ? "from"
                            : request.until ? "until"
                                            : "trial_length")));
    if (request.separation && request.epochs.empty())
        throw invalid_argument(
            fmt::format("{} needs {}", request.name_of("separation"), request.name_of("epochs")));
    if (request.trial_separation != duration{0} && !request.trial_length)
        throw invalid_argument(fmt::format("{} needs {}", request.name_of("trial_separation"),
                                           request.name_of("trial_length")));
}

// One rule per size, from thresholds by size; the last one also holds for all larger sizes.
std::vector<pattern_rule> rules_by_size(const min_occ_by_size& given,
                                        const spade_options& request) {
    const std::uint32_t least = request.min_spikes.value_or(1);
    const std::uint32_t most = request.max_spikes > 0 ? request.max_spikes : UINT32_MAX;
    std::vector<pattern_rule> rules;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const bool last = i + 1 == given.size();
        const std::uint32_t from = std::max(given[i].first, least);
        const std::uint32_t to = std::min(last ? UINT32_MAX : given[i + 1].first - 1, most);
        if (from > to) continue;
        rules.push_back({.min_occ = given[i].second,
                         .min_spikes = from,
                         .max_spikes = to == UINT32_MAX ? 0 : to,
                         .min_neu = request.min_neu.value_or(1)});
    }
    return rules;
}

void check_thresholds_by_size(const min_occ_by_size& given, const spade_options& request) {
    if (given.empty())
        throw invalid_argument(fmt::format("{} names no size", request.name_of("min_occ")));
    std::uint32_t before = 0;
    for (const auto& [spikes, occurrences] : given) {
        if (spikes <= before)
            throw invalid_argument(
                fmt::format("the sizes in {} must ascend from 1 on, and {} comes after {}",
                            request.name_of("min_occ"), spikes, before));
        before = spikes;
    }
    if (rules_by_size(given, request).empty())
        throw invalid_argument(
            fmt::format("{} {} is below all sizes that {} names: the smallest is {}",
                        request.name_of("max_spikes"), request.max_spikes,
                        request.name_of("min_occ"), given.front().first));
}

void check_rules(const spade_options& request, bool has_spikes) {
    if (!request.rules.empty()) return;
    if (!has_spikes && std::holds_alternative<auto_min_occ>(request.min_occ))
        throw invalid_argument(
            fmt::format("{0} auto needs spikes, since windows do not say the rates: give {0} N",
                        request.name_of("min_occ")));
    if (request.min_spikes == 0U)
        throw invalid_argument(
            fmt::format("{} must be at least 1, not 0", request.name_of("min_spikes")));
    const auto* by_size = std::get_if<min_occ_by_size>(&request.min_occ);
    const bool given = request.min_spikes.has_value();
    if (request.max_spikes > 0 && request.max_spikes < request.least_spikes() &&
        (given || !by_size))
        throw invalid_argument(fmt::format("{} {} is below {} {}{}", request.name_of("max_spikes"),
                                           request.max_spikes, request.name_of("min_spikes"),
                                           request.least_spikes(),
                                           given ? "" : ", which it is by default"));
    if (by_size) check_thresholds_by_size(*by_size, request);
}

void check_tests(const spade_options& request, bool has_spikes) {
    if (!request.is_tested()) return;
    if (!has_spikes)
        throw invalid_argument(fmt::format("{} are made of spikes, and only windows are given",
                                           request.name_of("surrogates")));
    if (!(request.alpha > 0 && request.alpha <= 1))
        throw invalid_argument(fmt::format("{} must be above 0 and at most 1, not {}",
                                           request.name_of("alpha"), request.alpha));
    if (request.method.value_or(request.usual_method()) == surrogate_method::trial_shifting &&
        request.epochs.empty() && !request.trial_length)
        throw invalid_argument(fmt::format("trial_shifting needs to know the trials: give {} or {}",
                                           request.name_of("epochs"),
                                           request.name_of("trial_length")));
}

void check_filters(const spade_options& request) {
    if (request.stable) subset_count(*request.stable);
    if (!request.stable && request.least_stable != stability{})
        throw invalid_argument(
            fmt::format("{} needs {}", request.name_of("least_stable"), request.name_of("stable")));
    constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
    if (!request.reduce) return;
    for (const std::uint32_t value : *request.reduce)
        if (value > most)
            throw invalid_argument(fmt::format("{} must be at most {}, not {}",
                                               request.name_of("reduce"), most, value));
}

// A recording without spikes, or of length 0, has no rates; then the lowest threshold is used.
std::vector<pattern_rule> estimated_rules(const spade_options& request,
                                          std::span<const std::size_t> spike_counts,
                                          duration length) {
    min_occ_options recipe{.least_spikes = request.least_spikes()};
    const bool silent = std::ranges::all_of(spike_counts, [](auto count) { return count == 0; });
    if (silent || length == duration{0})
        return {{.min_occ = recipe.least_occ,
                 .min_spikes = request.least_spikes(),
                 .max_spikes = request.max_spikes,
                 .min_neu = request.min_neu.value_or(request.least_spikes())}};
    recipe.most_spikes = std::max(recipe.most_spikes, recipe.least_spikes);
    if (request.max_spikes > 0)
        recipe.most_spikes = std::min(recipe.most_spikes, request.max_spikes);
    std::vector<pattern_rule> rules =
        estimate_rules(spike_counts, length, request.bin, request.window, recipe);
    rules.back().max_spikes = request.max_spikes;
    for (pattern_rule& rule : rules) rule.min_neu = request.min_neu.value_or(rule.min_neu);
    return rules;
}

}  // namespace

surrogate_method spade_options::usual_method() const {
    if (!epochs.empty() || trial_length) return surrogate_method::trial_shifting;
    return elephant != elephant_mode::none ? surrogate_method::dither_spikes
                                           : surrogate_method::dither_spikes_with_refractory_period;
}

void check_request(const spade_options& request, bool has_spikes) {
    check_extent(request);
    check_windows(request);
    check_rules(request, has_spikes);
    check_tests(request, has_spikes);
    check_filters(request);
}

std::vector<pattern_rule> rules_of(const spade_options& request,
                                   std::span<const std::size_t> spike_counts, duration length) {
    if (!request.rules.empty()) return request.rules;
    if (const auto* by_size = std::get_if<min_occ_by_size>(&request.min_occ))
        return rules_by_size(*by_size, request);
    if (const auto* number = std::get_if<std::uint32_t>(&request.min_occ))
        return {{.min_occ = *number,
                 .min_spikes = request.least_spikes(),
                 .max_spikes = request.max_spikes,
                 .min_neu = request.min_neu.value_or(1)}};
    return estimated_rules(request, spike_counts, length);
}

}  // namespace spikeweave
