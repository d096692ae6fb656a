#include "mine/episodes/search/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "mine/episodes/latest_start/pairs.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

// The product of a decimal that a user typed and a number of spikes or seconds, rounded up. The
// decimal is not an exact double, so a product that differs from a whole number only for that
// reason is taken as whole: 0.1 of 30 is 3.
std::uint64_t product_rounded_up(double factor, double amount) {
    const double product = factor * amount;
    const double whole = std::round(product);
    const double result = std::abs(product - whole) <= 1e-12 * amount ? whole : std::ceil(product);
    if (!(result < 0x1p63))
        throw invalid_argument(
            fmt::format("a threshold of {} occurrences is beyond any count", result));
    return static_cast<std::uint64_t>(std::max(1.0, result));
}

constexpr std::uint64_t median_parts = 20;
constexpr std::size_t default_pairs_per_unit = 32;

std::uint64_t by_default(const spike_sequence& spikes, const episode_mining_options& options,
                         const execution& run) {
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    const std::uint64_t floor = episodes::least_default_threshold(counts);
    if (spikes.empty()) return floor;
    std::vector<unit_id> units;
    for (std::uint32_t u = 0; u < counts.size(); ++u) {
        if (counts[u] >= floor) units.push_back(unit_id{u});
    }
    const std::vector<episodes::interval_us> intervals =
        episodes::checked_intervals(options.delays);
    const episodes::counting_problem problem{spikes, intervals, options.ties, run};
    auto pairs = episodes::count_pairs(problem, episodes::train_index(spikes), units,
                                       {floor, options.self_repeats, options.pairs, 0});
    return episodes::default_threshold(floor, units.size(), std::move(pairs.counts));
}

}  // namespace

std::optional<std::uint64_t> episodes::given_threshold(const episode_mining_options& options,
                                                       std::uint64_t spikes, duration observed) {
    check_options(options);
    if (options.min_count) return options.min_count;
    if (options.min_fraction)
        return product_rounded_up(*options.min_fraction, static_cast<double>(spikes));
    if (options.min_rate)
        return product_rounded_up(*options.min_rate, spikes == 0 ? 0 : to_seconds(observed));
    return {};
}

std::uint64_t episodes::least_default_threshold(std::span<const std::uint64_t> spikes_of_units) {
    std::vector<std::uint64_t> active(spikes_of_units.begin(), spikes_of_units.end());
    std::erase(active, 0);
    if (active.empty()) return least_default_count;
    const auto median = active.begin() + static_cast<std::ptrdiff_t>(active.size() / 2);
    std::nth_element(active.begin(), median, active.end());
    return std::max(least_default_count, (*median + median_parts - 1) / median_parts);
}

std::uint64_t episodes::default_threshold(std::uint64_t least, std::size_t units,
                                          std::vector<std::uint64_t> pair_counts) {
    const std::size_t most = default_pairs_per_unit * units;
    if (pair_counts.size() <= most) return least;
    const auto first_too_many = pair_counts.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(pair_counts.begin(), first_too_many, pair_counts.end(), std::greater<>());
    return *first_too_many + 1;
}

std::uint64_t resolve_threshold(const spike_sequence& spikes, const episode_mining_options& options,
                                const execution& run) {
    duration observed = spikes.observed_time();
    // For a whole recording, the time before the first spike and after the last one is left out.
    if (spikes.epochs().empty() && !spikes.empty())
        observed = duration{spikes.times_us().back() - spikes.times_us().front()};
    if (const auto given = episodes::given_threshold(options, spikes.size(), observed))
        return *given;
    return by_default(separated_epochs(spikes, episodes::longest_delay(options.delays)).spikes(),
                      options, run);
}

}  // namespace spikeweave
