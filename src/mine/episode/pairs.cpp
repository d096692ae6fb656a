// All pairs at once. `merge` walks the survivors of each pair; `look_back` goes once through the
// spikes of each target unit and looks back from each over the widest interval, so pairs that never
// meet cost nothing.

#include "mine/episode/pairs.hpp"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/stop.hpp"
#include "mine/episode/survivors.hpp"
#include "parallel/parallel_for.hpp"

namespace synfire::episodes {
namespace {

struct frequent_pair {
    unit_id from;
    std::uint32_t delay;
    unit_id to;
    std::uint64_t count;

    friend auto operator<=>(const frequent_pair&, const frequent_pair&) = default;
};

// The delays cut at every bound of an interval: within one cell the set of intervals that hold a
// delay does not change.
class delay_cells {
public:
    explicit delay_cells(std::span<const interval_us> intervals) {
        for (const interval_us& i : intervals) {
            bounds_.push_back(i.low);
            bounds_.push_back(i.high);
        }
        std::sort(bounds_.begin(), bounds_.end());
        bounds_.erase(std::unique(bounds_.begin(), bounds_.end()), bounds_.end());
        // Cell c holds the delays in (bounds_[c - 1], bounds_[c]].
        first_.push_back(0);
        for (std::size_t c = 0; c <= bounds_.size(); ++c) {
            for (std::uint32_t i = 0; c > 0 && c < bounds_.size() && i < intervals.size(); ++i) {
                if (intervals[i].low < bounds_[c] && bounds_[c] <= intervals[i].high)
                    members_.push_back(i);
            }
            first_.push_back(static_cast<std::uint32_t>(members_.size()));
        }
    }

    std::int64_t widest() const { return bounds_.back(); }
    std::span<const std::uint32_t> intervals_with(std::int64_t delay) const {
        std::size_t cell = 0;
        for (const std::int64_t bound : bounds_) cell += delay > bound ? 1 : 0;
        return std::span{members_}.subspan(first_[cell], first_[cell + 1] - first_[cell]);
    }

private:
    std::vector<std::int64_t> bounds_;
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> members_;
};

// Greedy counting while looking: any start later than the last end completes an occurrence that
// ends now, and as all others found for this spike end now too, the order in which they are met
// does not matter.
struct pair_state {
    std::int64_t last_end = INT64_MIN;
    std::uint64_t count = 0;
};

class look_back_counter {
public:
    look_back_counter(const counting_problem& problem, const train_index& trains,
                      std::span<const unit_id> units, const level_rules& rules)
        : problem_(problem),
          trains_(trains),
          units_(units),
          rules_(rules),
          cells_(problem.intervals) {
        place_.resize(problem.spikes.unit_count(), not_wanted);
        for (std::uint32_t u = 0; u < units.size(); ++u) place_[index(units[u])] = u;
    }

    std::vector<frequent_pair> pairs_to(unit_id to) {
        std::vector<pair_state>& states = states_.local();
        states.assign(units_.size() * problem_.intervals.size(), {});
        const indexed_train& train = trains_[to];
        for (std::uint32_t i = 0; i < train.size; ++i) {
            if (problem_.ties == tie_rule::time) {
                look_back(train.times_us[i], train.positions[i], problem_.spikes.times_us().data(),
                          train.times_us[i], states.data());
            } else {
                look_back(train.times_us[i], train.positions[i], nullptr, train.positions[i],
                          states.data());
            }
        }
        std::vector<frequent_pair> found;
        for (std::uint32_t u = 0; u < units_.size(); ++u) {
            if (units_[u] == to && !rules_.self_repeats) continue;
            for (std::uint32_t d = 0; d < problem_.intervals.size(); ++d) {
                const std::uint64_t count = states[u * problem_.intervals.size() + d].count;
                if (count >= rules_.threshold) found.push_back({units_[u], d, to, count});
            }
        }
        return found;
    }

private:
    static constexpr std::uint32_t not_wanted = UINT32_MAX;

    // places: what overlap is judged by, spike by spike; null where that is the position itself.
    void look_back(std::int64_t time, std::uint32_t position, const std::int64_t* places,
                   std::int64_t end, pair_state* states) const {
        const std::int64_t* const times = problem_.spikes.times_us().data();
        const unit_id* const units = problem_.spikes.units().data();
        for (std::uint32_t b = position; b-- > 0;) {
            const std::int64_t delay = time - times[b];
            if (delay > cells_.widest()) return;
            const std::uint32_t from = place_[index(units[b])];
            if (from == not_wanted) continue;
            const std::int64_t start = places != nullptr ? places[b] : b;
            for (const std::uint32_t d : cells_.intervals_with(delay)) {
                pair_state& state = states[from * problem_.intervals.size() + d];
                if (start <= state.last_end) continue;
                ++state.count;
                state.last_end = end;
            }
        }
    }

    const counting_problem& problem_;
    const train_index& trains_;
    std::span<const unit_id> units_;
    const level_rules& rules_;
    delay_cells cells_;
    std::vector<std::uint32_t> place_;  // of each unit in `units_`
    tbb::enumerable_thread_specific<std::vector<pair_state>> states_;
};

std::vector<frequent_pair> merge_pairs_from(const counting_problem& problem,
                                            const train_index& trains,
                                            std::span<const unit_id> units,
                                            const level_rules& rules, unit_id from,
                                            survivor_buffer& buffer) {
    std::vector<frequent_pair> found;
    for (const unit_id to : units) {
        throw_if_stopped(problem.run.stop);
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

pair_work estimate_pair_work(const counting_problem& problem, std::span<const unit_id> units) {
    std::int64_t widest = 0;
    for (const interval_us& i : problem.intervals) widest = std::max(widest, i.high);
    const auto times = problem.spikes.times_us();
    double met = 0;
    for (std::size_t b = 0, c = 0; c < times.size(); ++c) {
        while (times[c] - times[b] > widest) ++b;
        met += static_cast<double>(c - b);
    }
    return {static_cast<double>(times.size()) *
                static_cast<double>(units.size() * problem.intervals.size()),
            met};
}

mined_level count_pairs(const counting_problem& problem, const train_index& trains,
                        std::span<const unit_id> units, const level_rules& rules,
                        pair_method method) {
    std::vector<std::vector<frequent_pair>> found(units.size());
    if (method == pair_method::look_back) {
        look_back_counter counter(problem, trains, units, rules);
        parallel_for(units.size(), problem.run, "counting pairs",
                     [&](std::size_t u) { found[u] = counter.pairs_to(units[u]); });
    } else {
        tbb::enumerable_thread_specific<survivor_buffer> buffers;
        parallel_for(units.size(), problem.run, "counting pairs", [&](std::size_t u) {
            found[u] = merge_pairs_from(problem, trains, units, rules, units[u], buffers.local());
        });
    }
    std::vector<frequent_pair> all;
    for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
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

}  // namespace synfire::episodes
