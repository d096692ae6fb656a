#include "mine/episodes/blocks/candidate_counts.hpp"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <utility>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {

candidate_counts::candidate_counts(const mined_level& previous, std::uint64_t threshold)
    : previous_(previous),
      threshold_(threshold),
      candidates_{previous.frequent.size + 1},
      of_previous_(previous.frequent.count()),
      is_prefix_(previous.frequent.count()) {
    for (std::size_t i = 0; i < previous.frequent.count(); ++i) {
        const auto [begin, end] = continuations(previous.frequent, i);
        for (std::size_t j = begin; j < end; ++j) {
            append_join(candidates_, previous.frequent, i, j);
            parents_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
        }
        is_prefix_[i] = begin < end;
    }
    counts_.resize(candidates_.count());
}

std::vector<unit_id> candidate_counts::units() const {
    std::vector<unit_id> all = candidates_.units;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void candidate_counts::count_on(const counting_problem& problem, const train_index& trains,
                                const new_spikes& fresh, std::uint64_t most_table_bytes) {
    if (!steps_) {
        steps_.emplace(candidates_);
        parts_ = steps_->pieces();
    }
    const step_set steps(problem, trains, steps_->distinct,
                         steps_->are_repeated() ? most_table_bytes : 0);
    tbb::enumerable_thread_specific<prefix_walk> walks([&] { return prefix_walk(steps, *steps_); });
    parallel::parallel_for(parts_.size() - 1, problem.run, "", [&](std::size_t part) {
        count_part(problem, trains, fresh, part, walks.local());
    });
    drop_hopeless();
}

// The candidates of a part have all the candidates of their prefixes, which no other part counts.
void candidate_counts::count_part(const counting_problem& problem, const train_index& trains,
                                  const new_spikes& fresh, std::size_t part, prefix_walk& walk) {
    const auto count = [&](std::span<const unit_id> chain, const survivor_view& survivors,
                           running_count& counted) {
        count_disjoint_on(trains[chain.front()], trains[chain.back()], survivors, problem.ties,
                          fresh, counted);
    };
    for (std::size_t c = parts_[part]; c < parts_[part + 1]; ++c) {
        core::stop_at_times(c, problem.run.stop);
        const bool is_first = c == parts_[part];
        const survivor_view survivors = walk.survivors(c, is_first);
        count(candidates_.units_of(c), survivors, counts_[c]);
        const std::uint32_t prefix = parents_[c].prefix;
        if (is_first || prefix != parents_[c - 1].prefix)
            count(previous_.frequent.units_of(prefix), walk.survivors_of_prefix(),
                  of_previous_[prefix]);
    }
}

// The number of occurrences of an episode of the level before after the last piece.
std::uint64_t candidate_counts::to_come(std::uint32_t parent) const {
    return previous_.counts[parent] - of_previous_[parent].count;
}

void candidate_counts::drop_hopeless() {
    const auto most = [&](std::size_t c) {
        const auto [prefix, suffix] = parents_[c];
        std::uint64_t more = to_come(prefix);
        if (is_prefix_[suffix]) more = std::min(more, to_come(suffix));
        return counts_[c].count + more + 1;
    };
    std::vector<std::uint32_t> kept;
    for (std::size_t c = 0; c < candidates_.count(); ++c)
        if (most(c) >= threshold_) kept.push_back(static_cast<std::uint32_t>(c));
    // The steps are renumbered, which takes about as long as counting in a small piece.
    if (4 * kept.size() > 3 * candidates_.count()) return;
    candidate_set rest{candidates_.size};
    std::fill(is_prefix_.begin(), is_prefix_.end(), false);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const std::size_t c = kept[k];
        rest.append(candidates_.units_of(c), candidates_.delays_of(c));
        parents_[k] = parents_[c];
        counts_[k] = counts_[c];
        is_prefix_[parents_[c].prefix] = true;
    }
    candidates_ = std::move(rest);
    parents_.resize(kept.size());
    counts_.resize(kept.size());
    steps_.reset();
}

void candidate_counts::take_frequent(mined_level& level) const {
    for (std::size_t c = 0; c < candidates_.count(); ++c) {
        if (counts_[c].count < threshold_) continue;
        level.frequent.append(candidates_.units_of(c), candidates_.delays_of(c));
        level.counts.push_back(counts_[c].count);
    }
}

}  // namespace spikeweave::episodes
