#include "sort/templates/coincidences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace spikeweave::templates {
namespace {

// Pairs that are at most this far apart.
std::uint64_t pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                           std::int64_t reach) {
    if (reach < 0) return 0;
    std::uint64_t sum = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    for (const std::int64_t at : a) {
        while (begin < b.size() && b[begin] < at - reach) ++begin;
        while (end < b.size() && b[end] <= at + reach) ++end;
        sum += end - begin;
    }
    return sum;
}

constexpr double refractory_from_s = 0.0006;
constexpr double usual_refractory_s = 0.0025;

std::int64_t frames_in(double seconds, double rate_hz) {
    return std::llround(seconds * rate_hz);
}

// The number of spikes, shifted by this lag, that have one of the others within the reach.
std::size_t count_beside(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                         std::int64_t shift, std::int64_t reach) {
    std::size_t out = 0;
    auto next = others.begin();
    for (const std::int64_t at : spikes) {
        while (next != others.end() && *next < at + shift - reach) ++next;
        if (next != others.end() && *next <= at + shift + reach) ++out;
    }
    return out;
}

}  // namespace

std::uint64_t count_pairs(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                          std::int64_t least, std::int64_t most) {
    return pairs_within(a, b, most) - pairs_within(a, b, least - 1);
}

double expected_pairs(double a, double b, std::int64_t least, std::int64_t most,
                      double recording_frames) {
    const auto lags = static_cast<double>(2 * (most - least) + (least > 0 ? 2 : 1));
    return a * b * lags / recording_frames;
}

pair_counts pairs_at(const train_pair& units, const lag_range& lags) {
    return {count_pairs(units.a, units.b, lags.least, lags.most),
            expected_pairs(static_cast<double>(units.a.size()), static_cast<double>(units.b.size()),
                           lags.least, lags.most, units.recording_frames)};
}

bool fire_independently(std::uint64_t found, double expected) {
    return static_cast<double>(found) > expected / 2 + 1;
}

lag_range refractory_lags(const train_pair& units) {
    constexpr std::array times{0.015, 0.010, 0.007, 0.005, 0.004, 0.003, 0.0025, 0.002, 0.0015};
    constexpr double enough = 4;
    constexpr double most_share = 0.1;
    const std::int64_t least = frames_in(refractory_from_s, units.rate_hz);
    bool is_known = false;
    for (const double time : times) {
        const std::int64_t most = frames_in(time, units.rate_hz);
        double found = 0;
        double expected = 0;
        for (const auto& own : {units.a, units.b}) {
            const auto count = static_cast<double>(own.size());
            found += static_cast<double>(count_pairs(own, own, least, most));
            expected += expected_pairs(count, count, least, most, units.recording_frames);
        }
        if (expected < 2 * enough) break;  // both orders of a pair are counted
        is_known = is_known || time <= usual_refractory_s;
        if (found <= most_share * expected) return {least, most};
    }
    return {least, frames_in(is_known ? times.back() : usual_refractory_s, units.rate_hz)};
}

namespace {

constexpr double most_share_of_gap = 0.1;

// Whether at most a tenth of the pairs to be expected from those at other lags, and of ten or more,
// lie within the refractory lags.
bool has_gap(const train_pair& units, const lag_range& refractory, const lag_range& other) {
    constexpr double enough = 10;
    const double expected =
        static_cast<double>(count_pairs(units.a, units.b, other.least, other.most)) *
        static_cast<double>(refractory.most - refractory.least + 1) /
        static_cast<double>(other.most - other.least + 1);
    return expected >= enough &&
           static_cast<double>(count_pairs(units.a, units.b, refractory.least, refractory.most)) <=
               most_share_of_gap * expected;
}

}  // namespace

bool is_one_train(const train_pair& units, const lag_range& refractory) {
    constexpr double around_from_s = 0.03;
    constexpr double around_to_s = 0.08;
    return has_gap(
        units, refractory,
        {frames_in(around_from_s, units.rate_hz), frames_in(around_to_s, units.rate_hz)});
}

bool is_one_burst(const train_pair& units, const lag_range& refractory) {
    constexpr double burst_s = 0.01;
    const pair_counts pairs = pairs_at(units, refractory);
    return static_cast<double>(pairs.found) <= 1 + most_share_of_gap * pairs.expected &&
           has_gap(units, refractory,
                   {refractory.most + 1, refractory.most + frames_in(burst_s, units.rate_hz)});
}

bool fire_in_bursts(const train_pair& units) {
    constexpr double burst_s = 0.005;
    constexpr double least_ratio = 3;
    constexpr double least_pairs = 10;
    constexpr double most_at_one_lag = 0.5;
    const pair_counts pairs = pairs_at(
        units, {frames_in(refractory_from_s, units.rate_hz), frames_in(burst_s, units.rate_hz)});
    if (static_cast<double>(pairs.found) <= least_ratio * pairs.expected + least_pairs)
        return false;
    const bool is_first_rarer = units.a.size() <= units.b.size();
    return share_at_one_lag(is_first_rarer ? units.a : units.b, is_first_rarer ? units.b : units.a,
                            units.rate_hz) <= most_at_one_lag;
}

bool take_turns(const train_pair& units) {
    constexpr double spikes_of_part = 10;
    constexpr std::size_t least_parts = 8;
    constexpr std::size_t most_parts = 100;
    constexpr double most_shared = 0.25;
    constexpr double most_variance = 0.25;
    const double rarer = static_cast<double>(std::min(units.a.size(), units.b.size()));
    const auto parts = std::min(most_parts, static_cast<std::size_t>(rarer / spikes_of_part));
    if (parts < least_parts) return false;
    const auto counts = [&](std::span<const std::int64_t> frames) {
        std::vector<double> out(parts);
        for (const std::int64_t at : frames)
            ++out[std::min(parts - 1, static_cast<std::size_t>(
                                          static_cast<double>(std::max<std::int64_t>(at, 0)) /
                                          units.recording_frames * static_cast<double>(parts)))];
        return out;
    };
    const std::vector<double> a = counts(units.a);
    const std::vector<double> b = counts(units.b);
    const auto n = static_cast<double>(parts);
    const double mean_a = static_cast<double>(units.a.size()) / n;
    const double mean_b = static_cast<double>(units.b.size()) / n;
    double shared = 0;
    double of_a = 0;
    double of_b = 0;
    double of_both = 0;
    for (std::size_t i = 0; i < parts; ++i) {
        const double x = a[i] - mean_a;
        const double y = b[i] - mean_b;
        shared += a[i] * b[i] / (n * mean_a * mean_b);
        of_a += x * x;
        of_b += y * y;
        of_both += (x + y) * (x + y);
    }
    return shared <= most_shared && of_both <= most_variance * std::min(of_a, of_b);
}

double share_at_one_lag(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                        double rate_hz) {
    constexpr double reach_s = 0.003;
    constexpr double bin_s = 0.00025;
    constexpr int bins = 24;
    if (spikes.empty()) return 0;
    const double bin = bin_s * rate_hz;
    const std::int64_t reach = frames_in(reach_s, rate_hz);
    std::array<double, bins + 1> counts{};
    std::size_t begin = 0;
    for (const std::int64_t at : spikes) {
        while (begin < others.size() && others[begin] < at - reach) ++begin;
        for (std::size_t i = begin; i < others.size() && others[i] <= at + reach; ++i)
            ++counts[static_cast<std::size_t>(static_cast<double>(others[i] - at + reach) / bin)];
    }
    counts[bins - 1] += counts[bins];
    double sum = 0;
    double most = 0;
    for (int i = 0; i < bins; ++i) sum += counts[static_cast<std::size_t>(i)];
    for (std::size_t i = 0; i + 1 < bins; ++i) most = std::max(most, counts[i] + counts[i + 1]);
    const double by_chance = 2 * (sum - most) / (bins - 2);
    return (most - by_chance) / static_cast<double>(spikes.size());
}

double share_beside(std::span<const std::int64_t> spikes, std::span<const std::int64_t> others,
                    double rate_hz) {
    constexpr double reach_s = 0.002;
    constexpr double shift_s = 0.02;
    const std::int64_t reach = frames_in(reach_s, rate_hz);
    const std::int64_t shift = frames_in(shift_s, rate_hz);
    const auto all = static_cast<double>(spikes.size());
    const auto found = static_cast<double>(count_beside(spikes, others, 0, reach));
    const double chance = static_cast<double>(count_beside(spikes, others, -shift, reach) +
                                              count_beside(spikes, others, shift, reach)) /
                          2;
    return chance < all ? (found - chance) / (all - chance) : 0;
}

}  // namespace spikeweave::templates
