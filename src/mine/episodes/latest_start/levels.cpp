// Latest-start counting level by level: each frequent episode passes its survivors on to the
// episodes that continue it. With ranks, each continues the episodes that begin with some of the
// frequent pairs, and all get the episodes that any has found.

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/latest_start/memory_limit.hpp"
#include "mine/episodes/latest_start/pairs.hpp"
#include "mine/episodes/latest_start/step_set.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/search/counters.hpp"
#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave::episodes {
namespace {

// The survivor lists of one level's frequent episodes, each in one allocation of its exact size.
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
        for (const auto& words : lists_) total += words.size() * sizeof(std::uint32_t);
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

    mined_level pairs(std::span<const unit_id> units, bool last) override {
        rules_.pairs = chosen_pair_method(problem_, units, rules_);
        mined_level level = count_pairs(problem_, trains_, units, rules_);
        if (last)
            estimated_bytes_ = trains_.bytes();
        else
            keep_pair_survivors(level);
        return level;
    }

    mined_level extend(const mined_level& previous, bool last) override;

    pair_method pairs_by() const override { return rules_.pairs; }
    std::uint64_t estimated_bytes() const override { return estimated_bytes_; }

private:
    // Episodes whose survivors this rank keeps and that the same steps continue.
    struct continued_alike {
        std::vector<std::size_t> episodes;  // numbered as in `survivors_`
        std::size_t begin;                  // of the episodes of the level that continue them
        std::size_t end;
    };
    struct scratch {
        survivor_buffer survivors;
        step_set::table_room table;
        std::vector<std::uint64_t> ends;  // bits of the ends of each episode that has many
    };

    // The frequent episodes that continue one of these.
    struct share {
        candidate_set frequent;
        std::vector<std::uint64_t> counts{};
        survivor_store survivors{};
        std::vector<std::uint32_t> last_step{};
        std::uint64_t candidates = 0;
    };

    std::vector<continued_alike> own_alike(const candidate_set& parents) const;
    void extend(const continued_alike& group, const candidate_set& parents, bool last,
                std::vector<share>& shares);
    void keep_pair_survivors(mined_level& level);
    void join_level(mined_level& level);

    const counting_problem& problem_;
    level_rules rules_;
    train_index trains_;
    memory_limit limit_;
    std::optional<step_set> steps_;         // the frequent pairs
    parallel::rank_block own_{};            // the episodes of the level returned last whose
                                            // survivors this rank keeps
    survivor_store survivors_;              // of these
    std::vector<std::uint32_t> last_step_;  // last step of each episode of the level
    tbb::enumerable_thread_specific<scratch> scratch_;
    std::uint64_t estimated_bytes_ = 0;
};

void latest_start_levels::keep_pair_survivors(mined_level& level) {
    std::vector<episode_step> pairs;
    for (std::size_t i = 0; i < level.frequent.count(); ++i) {
        const auto units = level.frequent.units_of(i);
        pairs.push_back({units[0], level.frequent.delays_of(i)[0], units[1]});
        last_step_.push_back(static_cast<std::uint32_t>(i));
    }
    const std::uint64_t most =
        rules_.max_memory_bytes > 0 ? rules_.max_memory_bytes / 4 : default_table_bytes;
    steps_.emplace(problem_, trains_, std::move(pairs), most);
    limit_.add(steps_->table_bytes());
    // The cost of continuing a pair: a walk through its survivors for each continuation.
    std::vector<double> costs;
    costs.reserve(level.frequent.count());
    for (std::size_t i = 0; i < level.frequent.count(); ++i) {
        const auto [begin, end] = continuations(level.frequent, i);
        costs.push_back(static_cast<double>(level.counts[i]) * static_cast<double>(end - begin));
    }
    own_ = parallel::block_of_rank(costs, problem_.run);
    std::vector<survivor_store> stores(own_.size());
    parallel::parallel_for(own_.size(), problem_.run, "keeping pairs", [&](std::size_t i) {
        survivor_buffer& buffer = scratch_.local().survivors;
        steps_->begin(own_.begin + i, buffer);
        stores[i].add(buffer.view());
        limit_.add(buffer.view().size() * 2 * sizeof(std::uint32_t));
    });
    for (survivor_store& store : stores) survivors_.take(std::move(store));
    level.survivor_bytes = survivors_.bytes();
    parallel::sum_ranks(level.survivor_bytes, problem_.run);
    // Together, the lists of the next level are about as long as those of this one; later ones
    // shrink.
    estimated_bytes_ = trains_.bytes() + steps_->table_bytes() + 2 * level.survivor_bytes;
}

// Groups in the order of their continuations; large ones are divided so that all threads get some.
std::vector<latest_start_levels::continued_alike> latest_start_levels::own_alike(
    const candidate_set& parents) const {
    std::vector<std::pair<std::size_t, std::size_t>> ranges(own_.size());
    parallel::parallel_for(own_.size(), problem_.run, "joining episodes", [&](std::size_t s) {
        ranges[s] = continuations(parents, own_.begin + s);
    });
    std::vector<std::size_t> order(own_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return ranges[a] < ranges[b]; });
    const std::size_t most =
        own_.size() / (16 * static_cast<std::size_t>(thread_count(problem_.run))) + 1;
    std::vector<continued_alike> groups;
    for (const std::size_t s : order) {
        const auto [begin, end] = ranges[s];
        if (begin == end) continue;
        if (groups.empty() || groups.back().begin != begin || groups.back().episodes.size() == most)
            groups.push_back({{}, begin, end});
        groups.back().episodes.push_back(s);
    }
    return groups;
}

void latest_start_levels::extend(const continued_alike& group, const candidate_set& parents,
                                 bool last, std::vector<share>& shares) {
    // Making a table walks both trains once, as a step without one does, so it has to serve
    // several.
    constexpr std::size_t worth_a_table = 3;
    auto& [buffer, room, ends] = scratch_.local();
    const auto& [episodes, begin, end] = group;
    const std::size_t words =
        step_table::words_of(trains_[parents.units_of(own_.begin + episodes.front()).back()].size);
    ends.assign(episodes.size() * words, 0);
    for (std::size_t e = 0; e < episodes.size(); ++e) {
        shares[episodes[e]].candidates = end - begin;
        const survivor_view survivors = survivors_[episodes[e]];
        if (survivors.size() <= words) continue;
        for (const std::uint32_t spike : survivors.ends)
            ends[e * words + spike / 64] |= std::uint64_t{1} << spike % 64;
    }
    for (std::size_t j = begin; j < end; ++j) {
        core::throw_if_stopped(problem_.run.stop);
        const indexed_train& to = trains_[parents.units_of(j).back()];
        const std::size_t step = last_step_[j];
        const bool has_table = steps_->keeps_table_of(step) || episodes.size() >= worth_a_table;
        const step_table* const table = has_table ? &steps_->table_of(step, room) : nullptr;
        for (std::size_t e = 0; e < episodes.size(); ++e) {
            const std::size_t s = episodes[e];
            const survivor_view survivors = survivors_[s];
            if (table == nullptr) {
                steps_->extend(survivors, step, buffer);
            } else {
                // No two occurrences without overlap share an end of the shorter episode. Few ends
                // are counted as fast by the extension itself.
                if (survivors.size() > words &&
                    table->reaching(std::span{ends}.subspan(e * words, words)) < rules_.threshold)
                    continue;
                extend_survivors(survivors, *table, to.size, buffer);
            }
            if (buffer.view().size() < rules_.threshold) continue;
            const std::size_t i = own_.begin + s;
            const indexed_train& first = trains_[parents.units_of(i).front()];
            const std::uint64_t count = count_disjoint(first, to, buffer.view(), problem_.ties);
            if (count < rules_.threshold) continue;
            share& mine = shares[s];
            append_join(mine.frequent, parents, i, j);
            mine.counts.push_back(count);
            if (last) continue;
            mine.survivors.add(buffer.view());
            mine.last_step.push_back(last_step_[j]);
            limit_.add(buffer.view().size() * 2 * sizeof(std::uint32_t));
        }
    }
}

mined_level latest_start_levels::extend(const mined_level& previous, bool last) {
    const candidate_set& parents = previous.frequent;
    std::vector<share> shares(own_.size(), share{candidate_set{parents.size + 1}});
    const std::vector<continued_alike> groups = own_alike(parents);
    parallel::parallel_for(groups.size(), problem_.run, "extending episodes",
                           [&](std::size_t g) { extend(groups[g], parents, last, shares); });

    mined_level level;
    level.frequent.size = parents.size + 1;
    limit_.remove(survivors_.bytes());
    survivors_ = {};
    last_step_.clear();
    for (share& mine : shares) {
        level.frequent.units.insert(level.frequent.units.end(), mine.frequent.units.begin(),
                                    mine.frequent.units.end());
        level.frequent.delays.insert(level.frequent.delays.end(), mine.frequent.delays.begin(),
                                     mine.frequent.delays.end());
        level.counts.insert(level.counts.end(), mine.counts.begin(), mine.counts.end());
        level.candidates += mine.candidates;
        survivors_.take(std::move(mine.survivors));
        last_step_.insert(last_step_.end(), mine.last_step.begin(), mine.last_step.end());
    }
    level.survivor_bytes = survivors_.bytes();
    join_level(level);
    return level;
}

// The parents of each rank follow those of the one before, so do the episodes that it found.
void latest_start_levels::join_level(mined_level& level) {
    const execution& run = problem_.run;
    own_ = {0, level.counts.size()};
    if (!parallel::is_shared(run)) return;
    std::vector<std::uint64_t> found{level.counts.size()};
    parallel::join_ranks(found, run);
    const auto rank = static_cast<std::ptrdiff_t>(run.ranks->rank());
    const std::uint64_t before =
        std::accumulate(found.begin(), found.begin() + rank, std::uint64_t{0});
    own_ = {before, before + level.counts.size()};
    parallel::join_ranks(level.frequent.units, run);
    parallel::join_ranks(level.frequent.delays, run);
    parallel::join_ranks(level.counts, run);
    parallel::join_ranks(last_step_, run);
    parallel::sum_ranks(level.candidates, run);
    parallel::sum_ranks(level.survivor_bytes, run);
}

}  // namespace

std::unique_ptr<level_counter> levels_of_latest_start(const counting_problem& problem,
                                                      const level_rules& rules) {
    return std::make_unique<latest_start_levels>(problem, rules);
}

}  // namespace spikeweave::episodes
