#include "assess/replay/order.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "assess/episodes/count_distribution.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {
namespace {

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

}  // namespace

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

}  // namespace spikeweave::assess
