// Counts all pairs at once. `merge` walks the survivors of each pair. `look_back` goes once through
// the spikes of each target unit and looks back from each over the widest interval, so pairs that
// never fire that close together cost nothing.

#include "mine/episodes/latest_start/pairs.hpp"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <vector>

#include "core/spike_walks.hpp"
#include "core/stop.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"

namespace spikeweave::episodes {
namespace {

struct frequent_pair {
    unit_id from;
    std::uint32_t delay;
    unit_id to;
    std::uint64_t count;

    friend auto operator<=>(const frequent_pair&, const frequent_pair&) = default;
};

// Counts greedily while looking back: any start later than the last end completes an occurrence
// that ends now. All others found for this spike end now too, so their order does not matter.
class look_back_counter {
public:
    look_back_counter(const counting_problem& problem, const train_index& trains,
                      std::span<const unit_id> units)
        : problem_(problem), trains_(trains), units_(units), by_low_(intervals_by_low(problem)) {
        index_in_units_.resize(problem.spikes.unit_count(), not_wanted);
        for (std::uint32_t u = 0; u < units.size(); ++u) index_in_units_[to_index(units[u])] = u;
    }

    std::vector<frequent_pair> pairs_to(unit_id to, const level_rules& rules) {
        const std::vector<running_count>& states = counted_to(to, by_low_);
        std::vector<frequent_pair> found;
        for (std::uint32_t u = 0; u < units_.size(); ++u) {
            if (units_[u] == to && !rules.self_repeats) continue;
            for (std::uint32_t d = 0; d < problem_.intervals.size(); ++d) {
                const std::uint64_t count = states[d * units_.size() + u].count;
                if (count >= rules.threshold) found.push_back({units_[u], d, to, count});
            }
        }
        return found;
    }

    // Counts these pairs of a list, which all have one second unit.
    void count(const candidate_set& pairs, std::span<const std::size_t> which,
               std::span<std::uint64_t> counts) {
        std::vector<std::uint8_t> is_wanted(problem_.intervals.size());
        for (const std::size_t c : which) is_wanted[pairs.delays_of(c)[0]] = 1;
        std::vector<std::uint32_t> wanted;
        std::ranges::copy_if(by_low_, std::back_inserter(wanted),
                             [&](std::uint32_t d) { return is_wanted[d] != 0; });
        const std::vector<running_count>& states =
            counted_to(pairs.units_of(which.front())[1], wanted);
        for (const std::size_t c : which)
            counts[c] = states[pairs.delays_of(c)[0] * units_.size() +
                               index_in_units_[to_index(pairs.units_of(c)[0])]]
                            .count;
    }

    // Counts on all pairs to a unit, at the new spikes; states: by interval, then by first unit.
    void count_to(unit_id to, const new_spikes& fresh, running_count* states) const {
        count_to(to, by_low_, fresh, states);
    }

private:
    static constexpr std::uint32_t not_wanted = UINT32_MAX;

    const std::vector<running_count>& counted_to(unit_id to,
                                                 std::span<const std::uint32_t> by_low) {
        std::vector<running_count>& states = states_.local();
        states.assign(units_.size() * problem_.intervals.size(), {});
        count_to(to, by_low, {}, states.data());
        return states;
    }

    // by_low: the intervals in which pairs are counted, the lowest first
    void count_to(unit_id to, std::span<const std::uint32_t> by_low, const new_spikes& fresh,
                  running_count* states) const {
        const indexed_train& train = trains_[to];
        const auto begin = static_cast<std::uint32_t>(
            std::lower_bound(train.positions, train.positions + train.size, fresh.first) -
            train.positions);
        const core::near_spikes near(problem_.spikes.times_us(), problem_.spikes.units(),
                                     {train.positions, train.size});
        const auto all = [&](const auto& order_key) {
            std::size_t looked_back = 0;
            for (std::uint32_t i = begin; i < train.size; ++i) {
                if (i % spikes_between_stop_checks == 0) core::throw_if_stopped(problem_.run.stop);
                near.fetch_ahead(i, looked_back, 0);
                looked_back = look_back(train, i, by_low, order_key, states);
            }
        };
        if (problem_.ties == tie_rule::time) {
            all([times = problem_.spikes.times_us()](std::size_t at) { return times[at]; });
        } else {
            all([offset = fresh.offset](std::size_t at) {
                return offset + static_cast<std::int64_t>(at);
            });
        }
    }

    // Returns how many spikes before this one were examined.
    // order_key: returns the order key of a spike, by which overlap is decided
    template <class OrderKey>
    std::size_t look_back(const indexed_train& train, std::uint32_t spike,
                          std::span<const std::uint32_t> by_low, const OrderKey& order_key,
                          running_count* states) const {
        const std::int64_t* const times = problem_.spikes.times_us().data();
        const unit_id* const units = problem_.spikes.units().data();
        const std::uint32_t* const index_in_units = index_in_units_.data();
        const std::int64_t time = train.times_us[spike];
        const std::int64_t end = order_key(train.positions[spike]);
        std::size_t begin = train.positions[spike];  // one after the next to examine
        std::size_t first = begin;
        for (const std::uint32_t d : by_low) {
            const interval_us& interval = problem_.intervals[d];
            running_count* const mine = states + d * units_.size();
            while (begin > 0 && times[begin - 1] >= time - interval.low) --begin;
            std::size_t at = begin;
            while (at > 0 && times[at - 1] >= time - interval.high) {
                --at;
                const std::uint32_t from = index_in_units[to_index(units[at])];
                if (from == not_wanted) continue;
                running_count& state = mine[from];
                if (order_key(at) <= state.last_end) continue;
                ++state.count;
                state.last_end = end;
            }
            first = std::min(first, at);
        }
        return train.positions[spike] - first;
    }

    const counting_problem& problem_;
    const train_index& trains_;
    std::span<const unit_id> units_;
    std::vector<std::uint32_t> by_low_;
    std::vector<std::uint32_t> index_in_units_;
    tbb::enumerable_thread_specific<std::vector<running_count>> states_;
};

std::vector<frequent_pair> merge_pairs_from(const counting_problem& problem,
                                            const train_index& trains,
                                            std::span<const unit_id> units,
                                            const level_rules& rules, unit_id from,
                                            survivor_buffer& buffer) {
    std::vector<frequent_pair> found;
    for (const unit_id to : units) {
        core::throw_if_stopped(problem.run.stop);
        if (to == from && !rules.self_repeats) continue;
        for (std::uint32_t d = 0; d < problem.intervals.size(); ++d) {
            begin_survivors(trains[from], trains[to], problem.intervals[d], buffer);
            if (buffer.view().size() < rules.threshold) continue;
            const std::uint64_t count =
                count_disjoint(trains[from], trains[to], buffer.view(), problem.ties);
            if (count >= rules.threshold) found.push_back({from, d, to, count});
        }
    }
    return found;
}

}  // namespace

std::vector<std::uint32_t> intervals_by_low(const counting_problem& problem) {
    std::vector<std::uint32_t> order(problem.intervals.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return problem.intervals[a].low < problem.intervals[b].low; });
    return order;
}

double spikes_within_widest(const counting_problem& problem) {
    std::int64_t widest = 0;
    for (const interval_us& i : problem.intervals) widest = std::max(widest, i.high);
    const auto times = problem.spikes.times_us();
    double met = 0;
    for (std::size_t b = 0, c = 0; c < times.size(); ++c) {
        while (times[c] - times[b] > widest) ++b;
        met += static_cast<double>(c - b);
    }
    return met;
}

bool looking_back_pays(const counting_problem& problem, double merging_steps) {
    // The cost of a step of looking back, relative to a step of merging, measured where the two
    // methods take equally long (docs/benchmarks.md).
    constexpr double step_back_cost = 0.13;
    return spikes_within_widest(problem) * step_back_cost < merging_steps;
}

pair_method chosen_pair_method(const counting_problem& problem, std::span<const unit_id> units,
                               const level_rules& rules) {
    if (rules.pairs != pair_method::automatic) return rules.pairs;
    // The number of steps of the inner loops: every spike once for each partner and interval, or
    // once for each spike in its reach.
    const double merge = static_cast<double>(problem.spikes.size()) *
                         static_cast<double>(units.size()) *
                         static_cast<double>(problem.intervals.size());
    return looking_back_pays(problem, merge) ? pair_method::look_back : pair_method::merge;
}

mined_level count_pairs(const counting_problem& problem, const train_index& trains,
                        std::span<const unit_id> units, const level_rules& rules) {
    const parallel::rank_block own = parallel::block_of_rank(units.size(), problem.run);
    std::vector<std::vector<frequent_pair>> found(own.size());
    if (chosen_pair_method(problem, units, rules) == pair_method::look_back) {
        look_back_counter counter(problem, trains, units);
        parallel::parallel_for(own.size(), problem.run, "counting pairs", [&](std::size_t u) {
            found[u] = counter.pairs_to(units[own.begin + u], rules);
        });
    } else {
        tbb::enumerable_thread_specific<survivor_buffer> buffers;
        parallel::parallel_for(own.size(), problem.run, "counting pairs", [&](std::size_t u) {
            found[u] = merge_pairs_from(problem, trains, units, rules, units[own.begin + u],
                                        buffers.local());
        });
    }
    std::vector<frequent_pair> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
    parallel::join_ranks(all, problem.run);
    std::sort(all.begin(), all.end());

    mined_level level;
    level.frequent.size = 2;
    for (const frequent_pair& pair : all) {
        level.frequent.append(std::array{pair.from, pair.to}, std::array{pair.delay});
        level.counts.push_back(pair.count);
    }
    const std::uint64_t ordered =
        units.size() * (rules.self_repeats ? units.size() : units.size() - 1);
    level.candidates = ordered * problem.intervals.size();
    return level;
}

std::vector<std::uint64_t> count_listed_pairs(const counting_problem& problem,
                                              const train_index& trains,
                                              const candidate_set& pairs) {
    std::vector<unit_id> units = pairs.units;
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    std::map<unit_id, std::vector<std::size_t>> by_second;
    for (std::size_t c = 0; c < pairs.count(); ++c) by_second[pairs.units_of(c)[1]].push_back(c);
    std::vector<std::span<const std::size_t>> lists;
    for (const auto& [unit, which] : by_second) lists.emplace_back(which);
    std::vector<std::uint64_t> counts(pairs.count());
    look_back_counter counter(problem, trains, units);
    parallel::parallel_for(lists.size(), problem.run, "counting pairs",
                           [&](std::size_t i) { counter.count(pairs, lists[i], counts); });
    return counts;
}

void count_pairs_on(const counting_problem& problem, const train_index& trains,
                    std::span<const unit_id> units, const level_rules& rules, pair_method method,
                    const new_spikes& fresh, std::span<running_count> counts) {
    const std::size_t each = units.size() * problem.intervals.size();
    if (method == pair_method::look_back) {
        const look_back_counter counter(problem, trains, units);
        parallel::parallel_for(units.size(), problem.run, "counting pairs", [&](std::size_t to) {
            counter.count_to(units[to], fresh, counts.subspan(to * each, each).data());
        });
        return;
    }
    tbb::enumerable_thread_specific<survivor_buffer> buffers;
    parallel::parallel_for(units.size(), problem.run, "counting pairs", [&](std::size_t to) {
        survivor_buffer& buffer = buffers.local();
        for (std::size_t i = 0; i < each; ++i) {
            const unit_id from = units[i % units.size()];
            if (from == units[to] && !rules.self_repeats) continue;
            const interval_us& interval = problem.intervals[i / units.size()];
            begin_survivors(trains[from], trains[units[to]], interval, buffer);
            count_disjoint_on(trains[from], trains[units[to]], buffer.view(), problem.ties, fresh,
                              counts[to * each + i]);
        }
    });
}

}  // namespace spikeweave::episodes
