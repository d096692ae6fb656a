#include "spikeweave/spikes/doubtful_pairs.hpp"

#include <algorithm>
#include <array>
#include <boost/math/special_functions/gamma.hpp>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/double_policy.hpp"
#include "core/text.hpp"

namespace spikeweave {
namespace {

struct lag_span {
    std::int64_t above_us = 0;
    std::int64_t most_us = 0;

    double width() const { return static_cast<double>(most_us - above_us); }
};
constexpr lag_span refractory_lag{600, 2'500};
constexpr lag_span burst_lag{600, 10'000};
constexpr lag_span usual_lag{30'000, 80'000};
// A chance that is smaller is none.
constexpr double most_likely = 1e-3;

// Pairs at most this far apart.
std::uint64_t pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                           std::int64_t most) {
    std::uint64_t out = 0;
    auto begin = b.begin();
    auto end = b.begin();
    for (const std::int64_t time : a) {
        while (begin != b.end() && *begin < time - most) ++begin;
        while (end != b.end() && *end <= time + most) ++end;
        out += static_cast<std::uint64_t>(end - begin);
    }
    return out;
}

// Pairs at some lags, and those to be expected there from the ones at usual lags.
struct counted_pairs {
    double found = 0;
    double expected = 0;

    double excess() const { return found - expected; }
    bool is_gap() const {
        constexpr double most_left = 0.25;
        return found < most_left * expected &&
               boost::math::gamma_q(found + 1, expected, core::double_policy()) < most_likely;
    }
    bool is_more(double by_chance = most_likely) const {
        return found > expected &&
               (expected == 0 ||
                boost::math::gamma_p(found, expected, core::double_policy()) < by_chance);
    }
};

counted_pairs counted_at(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                         const lag_span& lags, const lag_span& beside = usual_lag) {
    const auto pairs = [&](const lag_span& in) {
        return static_cast<double>(pairs_within(a, b, in.most_us) -
                                   pairs_within(a, b, in.above_us));
    };
    return {pairs(lags), pairs(beside) * lags.width() / beside.width()};
}

// Whether the pairs that are more than chance are no more than those of a neuron that fires bursts,
// part of whose spikes are in the other unit.
bool may_share_bursts(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    constexpr double most_of_own = 1.5;
    const counted_pairs both = counted_at(a, b, burst_lag);
    if (!both.is_more()) return false;
    return std::ranges::any_of(std::array{a, b}, [&](std::span<const std::int64_t> own) {
        // Both orders of a pair are counted.
        const counted_pairs twice = counted_at(own, own, burst_lag);
        return counted_pairs{twice.found / 2, twice.expected / 2}.is_more() &&
               both.excess() <= most_of_own * twice.excess();
    });
}

// Number of lags at each multiple of `bin`, up to `reach` of them on each side.
std::vector<double> lag_counts_of(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                  std::int64_t bin, std::int64_t reach) {
    std::vector<double> out(static_cast<std::size_t>(2 * reach + 1));
    auto begin = b.begin();
    const std::int64_t most = bin * reach + bin / 2;
    for (const std::int64_t time : a) {
        while (begin != b.end() && *begin < time - most) ++begin;
        for (auto at = begin; at != b.end() && *at < time + most; ++at)
            ++out[static_cast<std::size_t>((*at - time + most) / bin)];
    }
    return out;
}

}  // namespace

std::string_view to_string(unit_doubt why) {
    return why == unit_doubt::one_neuron ? "possibly-one-neuron" : "cross-talk";
}

std::string_view column_of(unit_doubt why) {
    return why == unit_doubt::one_neuron ? "possibly_one_neuron_with" : "cross_talk_with";
}

std::vector<std::string> cells_of(std::span<const doubtful_pair> pairs,
                                  std::span<const std::string> units, unit_doubt why) {
    std::map<std::string_view, std::size_t> rows;
    for (std::size_t u = 0; u < units.size(); ++u) rows.emplace(units[u], u);
    std::vector<std::set<std::size_t>> others(units.size());
    for (const doubtful_pair& pair : pairs) {
        const auto one = rows.find(pair.one);
        const auto other = rows.find(pair.other);
        if (pair.why != why || one == rows.end() || other == rows.end()) continue;
        others[one->second].insert(other->second);
        others[other->second].insert(one->second);
    }
    std::vector<std::string> out(units.size());
    for (std::size_t u = 0; u < units.size(); ++u)
        for (const std::size_t other : others[u])
            out[u] += (out[u].empty() ? "" : ", ") + units[other];
    return out;
}

std::vector<doubtful_pair> pairs_in(std::span<const std::string> cells,
                                    std::span<const std::string> units, unit_doubt why) {
    const std::set<std::string_view> known(units.begin(), units.end());
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::vector<doubtful_pair> out;
    for (std::size_t u = 0; u < std::min(cells.size(), units.size()); ++u)
        for (const std::string_view cell : core::split(cells[u], ",")) {
            const std::string_view other = core::trimmed(cell);
            if (other == units[u] || !known.contains(other)) continue;
            if (!seen.insert(std::minmax<std::string_view>(units[u], other)).second) continue;
            out.push_back({units[u], std::string(other), why});
        }
    return out;
}

bool share_refractory_period(std::span<const std::int64_t> a_us,
                             std::span<const std::int64_t> b_us) {
    constexpr lag_span behind{3'000, 15'000};
    return counted_at(a_us, b_us, refractory_lag, behind).is_gap();
}

bool may_be_one_neuron(double similarity, std::span<const std::int64_t> a_us,
                       std::span<const std::int64_t> b_us) {
    constexpr double alike = 0.8;
    constexpr double nearly_equal = 0.9;  // the spikes of one are easily taken for the other's
    if (similarity < alike) return false;
    return counted_at(a_us, b_us, refractory_lag).is_gap() ||
           (similarity >= nearly_equal &&
            (share_refractory_period(a_us, b_us) || may_share_bursts(a_us, b_us)));
}

bool may_be_cross_talk(std::span<const std::int64_t> a_us, std::span<const std::int64_t> b_us) {
    constexpr std::int64_t bin_us = 100;
    constexpr std::int64_t reach = 60;    // bins
    constexpr std::int64_t from_lag = 4;  // nearer ones are synchrony, or one spike found twice
    constexpr std::int64_t to_lag = 50;
    constexpr std::int64_t beside = 10;    // the range around a lag in which others are counted
    constexpr double least_share = 0.1;    // of the spikes of the rarer unit
    constexpr double least_at_lag = 0.75;  // of the pairs around the lag, beyond chance
    constexpr double most_likely_of_all = 1e-6;
    const std::vector<double> counts = lag_counts_of(a_us, b_us, bin_us, reach);
    const auto sum = [&](std::int64_t first, std::int64_t last) {
        return std::accumulate(counts.begin() + reach + first, counts.begin() + reach + last + 1,
                               0.0);
    };
    const auto rarer = static_cast<double>(std::min(a_us.size(), b_us.size()));
    const double chance = counted_at(a_us, b_us, burst_lag).expected * static_cast<double>(bin_us) /
                          (2 * burst_lag.width());
    for (std::int64_t lag = -to_lag; lag <= to_lag; ++lag) {
        if (std::abs(lag) < from_lag) continue;
        const counted_pairs at_lag{sum(lag - 1, lag + 1), 3 * chance};
        const counted_pairs around{sum(lag - beside, lag + beside), (2 * beside + 1) * chance};
        if (at_lag.excess() >= least_share * rarer && at_lag.is_more(most_likely_of_all) &&
            at_lag.excess() >= least_at_lag * around.excess())
            return true;
    }
    return false;
}

}  // namespace spikeweave
