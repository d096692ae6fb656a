// Mines a recording that is larger than memory level by level, with one reading for each level. A
// reading counts all candidates of a level in one piece after another: their survivors are found in
// the piece, which contains each occurrence that ends at a new spike as a whole, and the greedy
// count continues from the end of the occurrence that it took last.

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "mine/episodes/blocks/recording_pieces.hpp"
#include "mine/episodes/latest_start/list_walk.hpp"
#include "mine/episodes/latest_start/pairs.hpp"
#include "mine/episodes/latest_start/survivors.hpp"
#include "mine/episodes/latest_start/train_index.hpp"
#include "mine/episodes/search/counters.hpp"
#include "mine/episodes/search/level_table.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "mine/episodes/search/threshold.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/episodes/blocks.hpp"

namespace spikeweave {
namespace episodes {
namespace {

// The joins of a level's frequent episodes, counted in one piece of a recording after another.
//
// A candidate is dropped as soon as it cannot become frequent. All of its occurrences that end
// after a piece, except the first, also start after it. So they are at most one more than those of
// its prefix, or of its suffix, that follow, and the total of these is known.
class candidate_counts {
public:
    candidate_counts(const mined_level& previous, std::uint64_t threshold);

    /// The number of candidates that are not dropped.
    std::size_t count() const { return candidates_.count(); }
    /// The units of all candidates, ascending.
    std::vector<unit_id> units() const;

    void count_on(const counting_problem& problem, const train_index& trains,
                  const new_spikes& fresh, std::uint64_t most_table_bytes);
    /// Adds the frequent candidates to a level, after the last piece.
    void take_frequent(mined_level& level) const;

private:
    struct parents_of {
        std::uint32_t prefix;
        std::uint32_t suffix;
    };

    void count_part(const counting_problem& problem, const train_index& trains,
                    const new_spikes& fresh, std::size_t part, prefix_walk& walk);
    std::uint64_t to_come(std::uint32_t parent) const;
    void drop_hopeless();

    const mined_level& previous_;
    std::uint64_t threshold_;
    candidate_set candidates_;
    std::vector<parents_of> parents_;  // of each candidate
    std::vector<running_count> counts_;
    std::optional<numbered_steps> steps_{};  // of the candidates
    std::vector<std::size_t> parts_;
    std::vector<running_count> of_previous_;  // the level before, as far as it is a prefix
    std::vector<bool> is_prefix_;
};

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

class block_search {
public:
    block_search(spike_blocks& recording, const episode_mining_options& options, execution run,
                 std::size_t at_once)
        : recording_(recording), options_(options), run_(std::move(run)), at_once_(at_once) {}

    episodes_in_blocks mine();

private:
    template <class Count>
    void count_pieces(std::span<const unit_id> units, std::size_t size, const Count& count);
    mined_level units();
    mined_level pairs(std::span<const unit_id> units);
    mined_level extend(const mined_level& previous);
    mined_level frequent_pairs(std::span<const unit_id> units,
                               std::span<const running_count> counts) const;

    spike_blocks& recording_;
    const episode_mining_options& options_;
    execution run_;
    std::size_t at_once_;
    std::vector<delay_interval> delays_ = sorted_delays(options_.delays);
    std::vector<interval_us> intervals_ = checked_intervals(delays_);
    recording_survey known_{};
    episode_table table_{};
    bool threshold_is_open_ = false;
};

// Calls `count` with each piece for episodes of this size, until it returns false. The next piece
// is read meanwhile.
template <class Count>
void block_search::count_pieces(std::span<const unit_id> units, std::size_t size,
                                const Count& count) {
    const duration reach = longest_delay(delays_) * static_cast<std::int64_t>(size - 1);
    recording_pieces pieces(recording_, known_, units, reach, at_once_, run_);
    execution quiet = run_;  // progress is that of the reading
    quiet.on_progress = nullptr;
    const std::string task = "counting episodes of " + std::to_string(size) + " units";
    std::optional<recording_piece> piece = pieces.next();
    while (piece) {
        const std::uint64_t read = pieces.read();
        std::future<std::optional<recording_piece>> next =
            std::async(std::launch::async, [&] { return pieces.next(); });
        const counting_problem problem{piece->spikes, intervals_, options_.ties, quiet};
        const bool more = count(problem, train_index(piece->spikes), piece->fresh);
        if (run_.on_progress) run_.on_progress({task, read, known_.spikes});
        piece = next.get();
        if (!more) return;
    }
}

mined_level block_search::units() {
    mined_level level;
    for (std::uint32_t u = 0; u < known_.spikes_of_units.size(); ++u) {
        if (known_.spikes_of_units[u] < table_.threshold) continue;
        level.frequent.units.push_back(unit_id{u});
        level.counts.push_back(known_.spikes_of_units[u]);
    }
    level.candidates = known_.spikes_of_units.size();
    return level;
}

mined_level block_search::frequent_pairs(std::span<const unit_id> units,
                                         std::span<const running_count> counts) const {
    mined_level level;
    level.frequent.size = 2;
    for (std::size_t from = 0; from < units.size(); ++from) {
        for (std::uint32_t d = 0; d < intervals_.size(); ++d) {
            for (std::size_t to = 0; to < units.size(); ++to) {
                if (from == to && !options_.self_repeats) continue;
                const auto& [last_end, count] =
                    counts[(to * intervals_.size() + d) * units.size() + from];
                if (count < table_.threshold) continue;
                level.frequent.append(std::array{units[from], units[to]}, std::array{d});
                level.counts.push_back(count);
            }
        }
    }
    return level;
}

// If the threshold is open, the pairs decide it.
mined_level block_search::pairs(std::span<const unit_id> units) {
    const level_rules rules{table_.threshold, options_.self_repeats, options_.pairs, 0};
    std::vector<running_count> counts(units.size() * intervals_.size() * units.size());
    count_pieces(
        units, 2,
        [&](const counting_problem& problem, const train_index& trains, const new_spikes& fresh) {
            if (table_.pairs_by == pair_method::automatic)
                table_.pairs_by = chosen_pair_method(problem, units, rules);
            count_pairs_on(problem, trains, units, rules, table_.pairs_by, fresh, counts);
            return true;
        });
    mined_level level = frequent_pairs(units, counts);
    if (std::exchange(threshold_is_open_, false)) {
        table_.threshold = default_threshold(table_.threshold, units.size(), level.counts);
        level = frequent_pairs(units, counts);
    }
    return level;
}

mined_level block_search::extend(const mined_level& previous) {
    candidate_counts candidates(previous, table_.threshold);
    mined_level level;
    level.frequent.size = previous.frequent.size + 1;
    level.candidates = candidates.count();
    if (candidates.count() == 0) return level;
    const std::uint64_t table_bytes =
        options_.max_memory_bytes > 0 ? options_.max_memory_bytes / 4 : default_table_bytes;
    count_pieces(
        candidates.units(), level.frequent.size,
        [&](const counting_problem& problem, const train_index& trains, const new_spikes& fresh) {
            candidates.count_on(problem, trains, fresh, table_bytes);
            return candidates.count() > 0;
        });
    candidates.take_frequent(level);
    return level;
}

episodes_in_blocks block_search::mine() {
    auto begin = std::chrono::steady_clock::now();
    const auto record = [&](const mined_level& level) {
        const auto end = std::chrono::steady_clock::now();
        append_level(table_, level, delays_, end - begin, run_.stop);
        begin = end;
        return level.frequent.count() > 0 &&
               (options_.max_size == 0 || level.frequent.size < options_.max_size);
    };
    table_.ties = options_.ties;
    table_.ran_on = episode_strategy::latest_start;
    table_.warnings = check_delays(spike_sequence{}, delays_);
    known_ = survey(recording_, run_);
    const auto given = given_threshold(options_, known_.spikes, known_.span.length());
    threshold_is_open_ = !given;
    table_.threshold = given ? *given : least_default_threshold(known_.spikes_of_units);

    mined_level level = units();
    mined_level two;
    if (threshold_is_open_ && level.frequent.count() > 0) {
        two = pairs(level.frequent.units);
        level = units();
    }
    if (record(level)) {
        const std::uint64_t n = level.frequent.count();
        if (two.frequent.size != 2) two = pairs(level.frequent.units);
        two.candidates = n * (options_.self_repeats ? n : n - 1) * intervals_.size();
        level = std::move(two);
        while (record(level)) level = extend(level);
    }
    return {std::move(table_),
            std::move(known_.unit_names),
            std::move(known_.spikes_of_units),
            known_.spikes,
            known_.duplicates,
            known_.span};
}

}  // namespace
}  // namespace episodes

episodes_in_blocks mine_episodes(spike_blocks& recording, const episode_mining_options& options,
                                 const execution& run, std::size_t at_once) {
    check_options(options);
    if (!run.devices.empty())
        throw invalid_argument("recordings that are larger than memory are counted on the CPU");
    if (episodes::chosen(options.strategy, run) != episode_strategy::latest_start)
        throw invalid_argument("strategy",
                               "recordings that are larger than memory are counted by the strategy "
                               "latest-start only");
    if (at_once == 0) throw invalid_argument("at least one spike must be counted at once");
    // Spikes in two pieces, trains and tables to be made take less than this for each spike.
    constexpr std::uint64_t bytes_each = 512;
    constexpr std::uint64_t fewest = 1024;
    if (options.max_memory_bytes > 0)
        at_once = std::min<std::uint64_t>(
            at_once, std::max(fewest, options.max_memory_bytes / bytes_each / 4));
    return episodes::block_search(recording, options, run, at_once).mine();
}

}  // namespace spikeweave
