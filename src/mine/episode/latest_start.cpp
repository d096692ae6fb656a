// Latest-start counting: for a given list of candidates, and level by level.
// docs/algorithms/episodes.md has the proof.

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "core/stop.hpp"
#include "mine/episode/counters.hpp"
#include "mine/episode/memory_limit.hpp"
#include "mine/episode/pairs.hpp"
#include "mine/episode/survivors.hpp"
#include "mine/episode/train_index.hpp"
#include "parallel/parallel_for.hpp"

namespace synfire::episodes {
namespace {

// Walks candidates that stand sorted, so that what two neighbours have in common is counted once.
class prefix_walk {
public:
    prefix_walk(const counting_problem& problem, const train_index& trains,
                const candidate_set& candidates)
        : problem_(problem),
          trains_(trains),
          candidates_(candidates),
          buffers_(candidates.size - 1) {}

    std::uint64_t count(std::size_t c, bool begin_anew) {
        const auto units = candidates_.units_of(c);
        const auto delays = candidates_.delays_of(c);
        for (std::size_t step = begin_anew ? 0 : common_steps(previous_, c); step < delays.size();
             ++step) {
            const indexed_train& from = trains_[units[step]];
            const indexed_train& to = trains_[units[step + 1]];
            const interval_us& interval = problem_.intervals[delays[step]];
            if (step == 0) {
                begin_survivors(from, to, interval, buffers_[0]);
            } else {
                extend_survivors(from, buffers_[step - 1].view(), to, interval, buffers_[step]);
            }
        }
        previous_ = c;
        return count_disjoint(trains_[units.front()], trains_[units.back()], buffers_.back().view(),
                              problem_.ties);
    }

private:
    std::size_t common_steps(std::size_t a, std::size_t b) const {
        const auto units_a = candidates_.units_of(a);
        const auto units_b = candidates_.units_of(b);
        if (units_a[0] != units_b[0]) return 0;
        std::size_t step = 0;
        while (step + 1 < candidates_.size &&
               candidates_.delays_of(a)[step] == candidates_.delays_of(b)[step] &&
               units_a[step + 1] == units_b[step + 1])
            ++step;
        return step;
    }

    const counting_problem& problem_;
    const train_index& trains_;
    const candidate_set& candidates_;
    std::vector<survivor_buffer> buffers_;  // one a step
    std::size_t previous_ = 0;
};

// Survivor lists of one level's frequent episodes, each in one allocation of its exact size.
class survivor_store {
public:
    void add(const survivor_view& survivors) {
        auto& words = lists_.emplace_back();
        words.reserve(2 * survivors.size());
        words.insert(words.end(), survivors.ends.begin(), survivors.ends.end());
        words.insert(words.end(), survivors.starts.begin(), survivors.starts.end());
    }
    void take(survivor_store&& other) {
        std::move(other.lists_.begin(), other.lists_.end(), std::back_inserter(lists_));
    }
    survivor_view operator[](std::size_t i) const {
        const std::span words{lists_[i]};
        return {words.first(words.size() / 2), words.subspan(words.size() / 2)};
    }
    std::uint64_t bytes() const {
        std::uint64_t total = 0;
        for (const auto& words : lists_)
            total += words.size() * sizeof(std::uint32_t) + sizeof(words);
        return total;
    }

private:
    std::vector<std::vector<std::uint32_t>> lists_;
};

class latest_start_levels final : public level_counter {
public:
    latest_start_levels(const counting_problem& problem, const level_rules& rules)
        : problem_(problem),
          rules_(rules),
          trains_(problem.spikes),
          limit_(rules.max_memory_bytes) {
        limit_.add(trains_.bytes());
    }

    mined_level pairs(std::span<const unit_id> units) override {
        pairs_by_ = rules_.pairs;
        if (pairs_by_ == pair_method::automatic) {
            const pair_work work = estimate_pair_work(problem_, units);
            pairs_by_ = work.look_back * look_back_step_cost < work.merge ? pair_method::look_back
                                                                          : pair_method::merge;
        }
        mined_level level = count_pairs(problem_, trains_, units, rules_, pairs_by_);
        keep_pair_survivors(level);
        return level;
    }

    mined_level extend(const mined_level& previous, bool last) override;

    pair_method pairs_by() const override { return pairs_by_; }
    std::uint64_t estimated_bytes() const override { return estimated_bytes_; }

private:
    // Measured: one step of looking back against one of merging (docs/benchmarks.md).
    static constexpr double look_back_step_cost = 1.0;

    void keep_pair_survivors(mined_level& level);

    const counting_problem& problem_;
    level_rules rules_;
    train_index trains_;
    memory_limit limit_;
    survivor_store survivors_;  // of the level returned last
    tbb::enumerable_thread_specific<survivor_buffer> buffers_;
    pair_method pairs_by_ = pair_method::automatic;
    std::uint64_t estimated_bytes_ = 0;
};

void latest_start_levels::keep_pair_survivors(mined_level& level) {
    std::vector<survivor_store> stores(level.frequent.count());
    parallel_for(level.frequent.count(), problem_.run, "keeping pairs", [&](std::size_t i) {
        survivor_buffer& buffer = buffers_.local();
        const auto units = level.frequent.units_of(i);
        begin_survivors(trains_[units[0]], trains_[units[1]],
                        problem_.intervals[level.frequent.delays_of(i)[0]], buffer);
        stores[i].add(buffer.view());
        limit_.add(buffer.view().size() * 2 * sizeof(std::uint32_t));
    });
    for (survivor_store& store : stores) survivors_.take(std::move(store));
    level.survivor_bytes = survivors_.bytes();
    // The next level's lists are about as long together as this one's; afterwards they shrink.
    estimated_bytes_ = trains_.bytes() + 2 * level.survivor_bytes;
}

mined_level latest_start_levels::extend(const mined_level& previous, bool last) {
    struct share {
        candidate_set frequent;
        std::vector<std::uint64_t> counts{};
        survivor_store survivors{};
        std::uint64_t candidates = 0;
    };
    const candidate_set& parents = previous.frequent;
    std::vector<share> shares(parents.count(), share{candidate_set{parents.size + 1}});
    parallel_for(parents.count(), problem_.run, "extending episodes", [&](std::size_t i) {
        survivor_buffer& buffer = buffers_.local();
        share& mine = shares[i];
        const auto [begin, end] = continuations(parents, i);
        const auto units = parents.units_of(i);
        mine.candidates = end - begin;
        for (std::size_t j = begin; j < end; ++j) {
            const unit_id to = parents.units_of(j).back();
            extend_survivors(trains_[units.back()], survivors_[i], trains_[to],
                             problem_.intervals[parents.delays_of(j).back()], buffer);
            if (buffer.view().size() < rules_.threshold) continue;
            const std::uint64_t count =
                count_disjoint(trains_[units.front()], trains_[to], buffer.view(), problem_.ties);
            if (count < rules_.threshold) continue;
            append_join(mine.frequent, parents, i, j);
            mine.counts.push_back(count);
            if (last) continue;
            mine.survivors.add(buffer.view());
            limit_.add(buffer.view().size() * 2 * sizeof(std::uint32_t));
        }
    });

    mined_level level;
    level.frequent.size = parents.size + 1;
    limit_.remove(survivors_.bytes());
    survivors_ = {};
    for (share& mine : shares) {
        level.frequent.units.insert(level.frequent.units.end(), mine.frequent.units.begin(),
                                    mine.frequent.units.end());
        level.frequent.delays.insert(level.frequent.delays.end(), mine.frequent.delays.begin(),
                                     mine.frequent.delays.end());
        level.counts.insert(level.counts.end(), mine.counts.begin(), mine.counts.end());
        level.candidates += mine.candidates;
        survivors_.take(std::move(mine.survivors));
    }
    level.survivor_bytes = survivors_.bytes();
    return level;
}

}  // namespace

count_result count_by_latest_start(const counting_problem& problem, const candidate_set& candidates,
                                   std::uint64_t) {
    const train_index trains(problem.spikes);
    std::vector<std::size_t> order(candidates.count());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return chain_less(candidates, a, candidates, b); });
    candidate_set sorted{candidates.size};
    for (const std::size_t c : order)
        sorted.append(candidates.units_of(c), candidates.delays_of(c));

    // Neighbours with the same first step make one piece of work.
    std::vector<std::size_t> pieces;
    for (std::size_t c = 0; c < sorted.count(); ++c) {
        if (c == 0 || sorted.units_of(c)[0] != sorted.units_of(c - 1)[0] ||
            sorted.delays_of(c)[0] != sorted.delays_of(c - 1)[0] ||
            sorted.units_of(c)[1] != sorted.units_of(c - 1)[1])
            pieces.push_back(c);
    }
    pieces.push_back(sorted.count());

    count_result result{std::vector<std::uint64_t>(candidates.count())};
    tbb::enumerable_thread_specific<prefix_walk> walks(
        [&] { return prefix_walk(problem, trains, sorted); });
    parallel_for(pieces.size() - 1, problem.run, "counting by latest start",
                 [&](std::size_t piece) {
                     prefix_walk& walk = walks.local();
                     for (std::size_t c = pieces[piece]; c < pieces[piece + 1]; ++c) {
                         throw_if_stopped(problem.run.stop);
                         result.counts[order[c]] = walk.count(c, c == pieces[piece]);
                     }
                 });
    return result;
}

std::unique_ptr<level_counter> levels_of_latest_start(const counting_problem& problem,
                                                      const level_rules& rules) {
    return std::make_unique<latest_start_levels>(problem, rules);
}

}  // namespace synfire::episodes
