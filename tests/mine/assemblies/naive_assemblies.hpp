#pragma once

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include "spikeweave/mine/assemblies.hpp"

/// CAD as it is written in the paper, one number for every bin and binary subprocess, to compare
/// `mine_assemblies` with. It shares no code with it.
namespace naive {

using counts = std::vector<int>;                     // of each bin of an epoch
using epoch_counts = std::vector<counts>;            // of all epochs
using recording_counts = std::vector<epoch_counts>;  // of all units

struct group {
    std::vector<std::size_t> units{};
    std::vector<int> lags{0};
    std::vector<double> p{};
    std::vector<std::uint64_t> counts{};
    epoch_counts active{};

    std::set<std::size_t> members() const { return {units.begin(), units.end()}; }
};

struct setting {
    int max_lag = 3;
    int reference_lag = 2;
    double alpha = 0.05;
    int chunk = 100;
};

inline recording_counts bins_of(const spikeweave::spike_sequence& spikes, std::int64_t width) {
    recording_counts out(spikes.unit_count());
    for (const auto& span : spikes.observed()) {
        const std::int64_t begin = span.begin.count();
        const auto bins = static_cast<std::size_t>((span.end.count() + 1 - begin) / width);
        for (epoch_counts& unit : out) unit.emplace_back(bins);
        for (std::size_t i = 0; i < spikes.size(); ++i) {
            const std::int64_t time = spikes.times_us()[i];
            if (time < begin || time >= begin + static_cast<std::int64_t>(bins) * width) continue;
            ++out[spikeweave::to_index(spikes.units()[i])]
                  .back()[static_cast<std::size_t>((time - begin) / width)];
        }
    }
    return out;
}

inline epoch_counts without_floor(epoch_counts of) {
    int floor = INT32_MAX;
    for (const counts& part : of)
        for (const int count : part) floor = std::min(floor, count);
    for (counts& part : of)
        for (int& count : part) count -= floor;
    return of;
}

inline int highest(const epoch_counts& of) {
    int most = 0;
    for (const counts& part : of)
        for (const int count : part) most = std::max(most, count);
    return most;
}

// How many bins from `begin` have a count of at least `level`.
inline double bins_at(const counts& of, int level, std::size_t begin, std::size_t number) {
    double out = 0;
    for (std::size_t t = begin; t < begin + number; ++t) out += of[t] >= level;
    return out;
}

inline std::int64_t joint_count(const epoch_counts& a, const epoch_counts& b, int lag,
                                int max_lag) {
    std::int64_t out = 0;
    const int levels = std::min(highest(a), highest(b));
    for (std::size_t e = 0; e < a.size(); ++e)
        for (int level = 1; level <= levels; ++level)
            for (int t = 0; t + max_lag < static_cast<int>(a[e].size()); ++t) {
                const int in_a = lag < 0 ? t - lag : t;
                const int in_b = lag < 0 ? t : t + lag;
                out += a[e][static_cast<std::size_t>(in_a)] >= level &&
                       b[e][static_cast<std::size_t>(in_b)] >= level;
            }
    return out;
}

inline double variance(const epoch_counts& a, const epoch_counts& b, int lag, const setting& how) {
    double out = 0;
    const int levels = std::max(highest(a), highest(b));
    for (std::size_t e = 0; e < a.size(); ++e) {
        const int usable = static_cast<int>(a[e].size()) - how.max_lag;
        if (usable <= 0) continue;
        const int chunks = (usable + how.chunk - 1) / how.chunk;
        const int length = usable / chunks;
        for (int c = 0; c < chunks; ++c) {
            const int n = c + 1 < chunks ? length : usable - length * (chunks - 1);
            if (n < 3) continue;
            const auto number = static_cast<std::size_t>(n);
            const auto in_a = static_cast<std::size_t>(c * length + std::max(0, -lag));
            const auto in_b = static_cast<std::size_t>(c * length + std::max(0, lag));
            double own = 0;
            for (int i = 1; i <= levels; ++i)
                for (int j = i; j <= levels; ++j) {
                    const double term = bins_at(a[e], j, in_a, number) *
                                        bins_at(b[e], j, in_b, number) / n *
                                        (n - bins_at(a[e], i, in_a, number)) *
                                        (n - bins_at(b[e], i, in_b, number)) / (n * (n - 1.0));
                    own += i == j ? term : 2 * term;
                }
            out += 2 * own - 2 * own / (n - 1.0);
        }
    }
    return out;
}

struct tested {
    int lag = 0;
    double p = 1;
};

inline std::optional<tested> test(const epoch_counts& raw_a, const epoch_counts& raw_b,
                                  const setting& how) {
    const epoch_counts a = without_floor(raw_a);
    const epoch_counts b = without_floor(raw_b);
    double expected = 0;
    double bins = 0;
    double usable = 0;
    double of_a = 0;
    double of_b = 0;
    for (const counts& part : a) {
        bins += static_cast<double>(part.size());
        usable += std::max(0.0, static_cast<double>(part.size()) - how.max_lag);
    }
    for (int level = 1; level <= std::max(highest(a), highest(b)); ++level) {
        double n_a = 0;
        double n_b = 0;
        for (std::size_t e = 0; e < a.size(); ++e) {
            n_a += bins_at(a[e], level, 0, a[e].size());
            n_b += bins_at(b[e], level, 0, b[e].size());
        }
        expected += n_a * n_b / bins;
        of_a += n_a;
        of_b += n_b;
    }
    if (expected <= 5 || expected >= std::min(of_a, of_b) - 5) return {};
    const auto at = [&](int lag) { return joint_count(a, b, lag, how.max_lag); };
    std::vector<int> order;
    if (how.reference_lag > 0)
        for (int lag = -how.max_lag; lag <= how.max_lag; ++lag) order.push_back(lag);
    else
        for (int lag = 0; lag <= how.max_lag; ++lag) order.insert(order.end(), {lag, -lag});
    tested out{.lag = *std::ranges::max_element(order, {}, at)};
    int reference = out.lag < 0 ? out.lag + how.reference_lag : out.lag - how.reference_lag;
    if (how.reference_lag == 0) reference = out.lag == 0 ? -2 : -out.lag;
    const auto difference = static_cast<double>(at(out.lag) - at(reference));
    const double spread = variance(a, b, out.lag, how);
    if (difference == 0 || spread == 0) return out;
    // F with 1 and n degrees of freedom is the square of Student's t with n.
    const double t = (std::abs(difference) - 0.5) / std::sqrt(spread);
    out.p = 2 * boost::math::cdf(complement(boost::math::students_t(usable), t));
    return out;
}

inline epoch_counts joined(const epoch_counts& raw_a, const epoch_counts& raw_b, int lag) {
    const epoch_counts a = without_floor(raw_a);
    const epoch_counts b = without_floor(raw_b);
    epoch_counts out = a;
    for (std::size_t e = 0; e < a.size(); ++e)
        for (int t = 0; t < static_cast<int>(a[e].size()); ++t) {
            const bool inside = t + lag >= 0 && t + lag < static_cast<int>(b[e].size());
            int& here = out[e][static_cast<std::size_t>(t)];
            here = inside ? std::min(here, b[e][static_cast<std::size_t>(t + lag)]) : 0;
        }
    return out;
}

inline std::uint64_t total(const epoch_counts& of) {
    std::uint64_t out = 0;
    for (const counts& part : of) out += std::accumulate(part.begin(), part.end(), std::uint64_t{});
    return out;
}

// The significant ways to join `unit` to a group, as a new group.
inline void try_unit(const group& from, std::size_t unit, const epoch_counts& counts, double level,
                     const setting& how, std::vector<group>& out) {
    const auto result = test(from.active, counts, how);
    if (!result || !(result->p < level)) return;
    group to = from;
    to.units.push_back(unit);
    to.lags.push_back(result->lag);
    to.p.push_back(result->p);
    to.active = joined(from.active, counts, result->lag);
    to.counts.push_back(total(to.active));
    const auto same = std::ranges::find(out, to.members(), &group::members);
    if (same == out.end())
        out.push_back(std::move(to));
    else if (to.p.back() < same->p.back())
        *same = std::move(to);
}

// All groups that are in no larger one.
inline std::vector<group> find(const recording_counts& units, const setting& how) {
    const double lags = 2 * how.max_lag + 1;
    const auto n = static_cast<double>(units.size());
    std::vector<group> last;
    for (std::size_t a = 0; a < units.size(); ++a)
        for (std::size_t b = a + 1; b < units.size(); ++b)
            try_unit({.units = {a}, .active = units[a]}, b, units[b],
                     how.alpha * 2 / (n * (n - 1) * lags), how, last);
    const std::vector<group> pairs = last;
    std::vector<group> all;
    while (!last.empty()) {
        all.insert(all.end(), last.begin(), last.end());
        std::vector<group> next;
        for (const group& from : last) {
            std::set<std::size_t> candidates;
            for (const group& pair : pairs)
                for (const std::size_t side : {0, 1})
                    if (from.members().contains(pair.units[side]))
                        candidates.insert(pair.units[1 - side]);
            for (const std::size_t member : from.units) candidates.erase(member);
            for (const std::size_t unit : candidates)
                try_unit(from, unit, units[unit],
                         how.alpha / (static_cast<double>(candidates.size() * last.size()) * lags),
                         how, next);
        }
        last = std::move(next);
    }
    std::vector<group> out;
    for (const group& one : all)
        if (std::ranges::none_of(all, [&](const group& other) {
                return other.units.size() > one.units.size() &&
                       std::ranges::includes(other.members(), one.members());
            }))
            out.push_back(one);
    return out;
}

}  // namespace naive
