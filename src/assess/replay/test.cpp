// Both halves of the test: counts of scaled chains against shuffles, and the order in events.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "assess/episodes/count_distribution.hpp"
#include "assess/replay/counts.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/replay.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {
namespace {

// The frequency of each number of wrongly ordered pairs among all n! orders of n units, and
// derived values: Kendall 1938, Biometrika 30:81.
class order_distribution {
public:
    explicit order_distribution(std::size_t units);
    /// The share of orders with at most so many wrongly ordered pairs.
    double at_most(std::size_t wrong) const { return cumulative_[wrong]; }
    /// The largest such share that is at most alpha; 0 if there is none.
    double attainable(double alpha) const;

private:
    std::vector<double> cumulative_{};
};

constexpr std::int64_t no_spike = INT64_MIN;
using event_times = std::vector<std::vector<std::int64_t>>;
constexpr std::size_t least_active = 3;

std::vector<unit_id> units_once(const episode& chain) {
    std::vector<unit_id> units;
    std::copy_if(chain.units.begin(), chain.units.end(), std::back_inserter(units),
                 [&](unit_id unit) { return std::ranges::count(chain.units, unit) == 1; });
    return units;
}

struct pair_counts {
    std::size_t right = 0;
    std::size_t wrong = 0;
};

pair_counts pairs_of(std::span<const std::int64_t> times) {
    pair_counts out;
    for (std::size_t i = 0; i < times.size(); ++i)
        for (std::size_t k = i + 1; k < times.size(); ++k) {
            out.right += times[i] < times[k] ? 1 : 0;
            out.wrong += times[i] > times[k] ? 1 : 0;
        }
    return out;
}

// Unit n + 1 is put before 0 to n of the others, each with the same probability.
order_distribution::order_distribution(std::size_t units) {
    std::vector<double> share{1};
    for (std::size_t n = 2; n <= units; ++n) {
        std::vector<double> next(share.size() + n - 1);
        for (std::size_t i = 0; i < share.size(); ++i)
            for (std::size_t k = 0; k < n; ++k) next[i + k] += share[i] / static_cast<double>(n);
        share = std::move(next);
    }
    double sum = 0;
    for (const double one : share) cumulative_.push_back(std::min(1.0, sum += one));
    cumulative_.back() = 1;
}

double order_distribution::attainable(double alpha) const {
    const auto above = std::ranges::upper_bound(cumulative_, alpha);
    return above == cumulative_.begin() ? 0 : *(above - 1);
}

// One spike of each unit in each event, drawn at random; `no_spike` if the unit has none.
event_times draw_spikes(const spike_sequence& spikes, std::span<const time_span> events,
                        std::uint64_t seed) {
    const spike_trains trains(spikes);
    event_times out(events.size(), std::vector<std::int64_t>(spikes.unit_count(), no_spike));
    for (std::size_t e = 0; e < events.size(); ++e)
        for (std::uint32_t u = 0; u < spikes.unit_count(); ++u) {
            const auto train = trains.times_us(unit_id{u});
            const auto first = std::ranges::lower_bound(train, events[e].begin.count());
            const auto end = std::lower_bound(first, train.end(), events[e].end.count());
            if (first == end) continue;
            random_stream random(seed, random_purpose::replay_spikes, static_cast<std::uint32_t>(e),
                                 u);
            out[e][u] = *(first + static_cast<std::ptrdiff_t>(
                                      random.below(static_cast<std::uint64_t>(end - first))));
        }
    return out;
}

// Scores the events in which at least three units of a chain fire, and sets the results of
// `forward` and `reverse` for them. Units that are in the chain more than once have no place in
// its order.
std::vector<replay_event> score_order(const episode& chain, const event_times& times, double alpha,
                                      replay_test& forward, replay_test& reverse) {
    const std::vector<unit_id> units = units_once(chain);
    std::map<std::size_t, order_distribution> orders;
    std::vector<replay_event> scored;
    count_distribution by_chance;
    for (std::size_t e = 0; e < times.size(); ++e) {
        std::vector<std::int64_t> active;
        for (const unit_id unit : units)
            if (times[e][to_index(unit)] != no_spike) active.push_back(times[e][to_index(unit)]);
        if (active.size() < least_active) continue;
        const auto& order = orders.try_emplace(active.size(), active.size()).first->second;
        const std::size_t pairs = active.size() * (active.size() - 1) / 2;
        const auto [right, wrong] = pairs_of(active);
        // Simultaneous spikes count against both directions.
        scored.push_back({.event = e,
                          .active = active.size(),
                          .tau = (static_cast<double>(right) - static_cast<double>(wrong)) /
                                 static_cast<double>(pairs),
                          .p_forward = order.at_most(pairs - right),
                          .p_reverse = order.at_most(pairs - wrong)});
        if (const double level = order.attainable(alpha); level > 0) by_chance.add(level);
        forward.significant += scored.back().p_forward <= alpha ? 1 : 0;
        reverse.significant += scored.back().p_reverse <= alpha ? 1 : 0;
    }
    for (replay_test* const test : {&forward, &reverse}) {
        test->scored = scored.size();
        test->expected_significant = by_chance.mean();
        test->events_p = test->significant == 0 ? 1 : by_chance.tail_probability(test->significant);
    }
    return scored;
}

}  // namespace
}  // namespace spikeweave::assess

namespace spikeweave {
namespace {

using counts_of_shuffles = std::vector<std::vector<std::uint64_t>>;

void check_replay(const spike_sequence& spikes, std::span<const episode> chains,
                  std::span<const time_span> events, const replay_options& options) {
    check_options(options);
    if (chains.empty()) throw invalid_argument("there is no chain to search for");
    for (const episode& one : chains) {
        if (one.size() < 2 || one.delays.size() + 1 != one.size())
            throw invalid_argument(
                "a chain needs at least two units, and one delay between two units");
        for (const unit_id unit : one.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument(fmt::format("a chain has unit {}, but there are {} units",
                                                   to_index(unit), spikes.unit_count()));
    }
    if (events.empty()) throw invalid_argument("there is no event in which a chain could occur");
}

counts_of_shuffles count_all(const spike_sequence& spikes, std::span<const episode> chains,
                             std::span<const time_span> events, const replay_options& options,
                             const execution& run) {
    const auto counter = assess::counter_of(spikes, chains, events, options);
    counts_of_shuffles all(std::size_t{options.surrogates.surrogates} + 1);
    const execution alone{.threads = 1, .stop = run.stop};
    parallel::parallel_for(all.size(), run, "counting in shuffles", [&](std::size_t k) {
        all[k] = counter->count(static_cast<std::uint32_t>(k), alone);
    });
    return all;
}

// The mean and the standard deviation of one count over the spikes and all shuffles, which are
// exchangeable under the null model. A deviation below 1 counts as 1, so that a single chance
// occurrence at a scale with hardly any does not stand out.
std::pair<double, double> moments(const counts_of_shuffles& all, std::size_t column) {
    const auto size = static_cast<double>(all.size());
    double mean = 0;
    for (const auto& one : all) mean += static_cast<double>(one[column]) / size;
    double variance = 0;
    for (const auto& one : all) {
        const double off = static_cast<double>(one[column]) - mean;
        variance += off * off / size;
    }
    return {mean, std::max(1.0, std::sqrt(variance))};
}

// Sets the best scale and p. The columns of this chain and direction begin at `first`.
void test_counts(const counts_of_shuffles& all, std::size_t first, std::span<const double> scales,
                 replay_test& test) {
    std::vector<double> highest(all.size(), -HUGE_VAL);
    std::size_t best = 0;
    double mean_at_best = 0;
    for (std::size_t s = 0; s < scales.size(); ++s) {
        const auto [mean, deviation] = moments(all, first + s);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const double z = (static_cast<double>(all[k][first + s]) - mean) / deviation;
            if (z <= highest[k]) continue;
            highest[k] = z;
            if (k == 0) best = s, mean_at_best = mean;
        }
    }
    const auto reached = std::count_if(highest.begin() + 1, highest.end(),
                                       [&](double other) { return other >= highest[0]; });
    const auto size = static_cast<double>(all.size());
    test.scale = scales[best];
    test.count = all[0][first + best];
    test.expected = (mean_at_best * size - static_cast<double>(test.count)) / (size - 1);
    test.z = highest[0];
    test.p = static_cast<double>(reached + 1) / size;
}

void correct(std::vector<replay_test>& tests, double replay_test::*p, double replay_test::*q) {
    std::vector<double> all;
    all.reserve(tests.size());
    for (const replay_test& one : tests) all.push_back(one.*p);
    const auto corrected = adjust_p_values(all, all.size(), correction_method::benjamini_hochberg);
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i].*q = corrected[i];
}

}  // namespace

replay_scores test_replay(const spike_sequence& spikes, std::span<const episode> chains,
                          std::span<const time_span> events, const replay_options& options,
                          const execution& run) {
    check_replay(spikes, chains, events, options);
    const std::vector<double> scales = options.scales.values();
    const counts_of_shuffles counts = count_all(spikes, chains, events, options, run);
    const assess::event_times times = assess::draw_spikes(spikes, events, options.surrogates.seed);
    replay_scores out;
    for (std::size_t c = 0; c < chains.size(); ++c) {
        std::array<replay_test, 2> both{{{.chain = c, .direction = replay_direction::forward},
                                         {.chain = c, .direction = replay_direction::reverse}}};
        for (std::size_t d = 0; d < both.size(); ++d)
            test_counts(counts, (2 * c + d) * scales.size(), scales, both[d]);
        for (replay_event& one :
             assess::score_order(chains[c], times, options.alpha, both[0], both[1])) {
            one.chain = c;
            out.events.push_back(one);
        }
        out.tests.insert(out.tests.end(), both.begin(), both.end());
    }
    std::ranges::stable_sort(out.events, {}, &replay_event::event);
    correct(out.tests, &replay_test::p, &replay_test::q);
    correct(out.tests, &replay_test::events_p, &replay_test::events_q);
    return out;
}

}  // namespace spikeweave
