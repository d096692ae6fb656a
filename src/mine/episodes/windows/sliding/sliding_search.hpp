#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

#include "mine/episodes/windows/sliding/episode_graph.hpp"
#include "mine/episodes/windows/sliding/window_events.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::episodes {

/// The number of survivors of each pair of units in a moving window, for each interval: no less
/// than its count. A spike takes one step for each other one within reach of the intervals.
class pair_survivors {
public:
    pair_survivors(std::size_t units, std::size_t intervals);

    /// Removes the survivors that start before `first`, before the spikes are dropped.
    void drop_before(const window_events& events, stream_position first);
    /// Adds those that end at `from` or later, after the spikes were appended.
    void add_from(const window_events& events, stream_position from);

    std::uint32_t operator[](std::size_t pair) const { return counts_[pair]; }
    /// The number of a pair, below `size()`.
    std::size_t pair(std::size_t from, std::size_t interval, std::size_t to) const {
        return (to * intervals_ + interval) * units_ + from;
    }
    std::size_t size() const { return counts_.size(); }

    static std::uint64_t bytes(std::size_t units, std::size_t intervals) {
        return std::uint64_t{sizeof(std::uint32_t)} * units * units * intervals;
    }

private:
    template <class Visit>
    void latest_starts(const window_events& events, stream_position to, std::size_t interval,
                       const Visit& visit);

    std::size_t units_;
    std::size_t intervals_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint64_t> seen_;  // of each unit: the last look back in which it was met
    std::uint64_t looks_ = 0;
};

/// Finds the frequent episodes of moving windows from those of the window before: the lists of
/// survivors are kept, and a candidate is counted again only if it may have become frequent
/// (docs/algorithms/live.md).
///
/// After an exception, and where `move_to` returned false, the state of the search is lost and it
/// has to be constructed again.
class sliding_search {
public:
    /// @param options  checked before
    sliding_search(const episode_mining_options& options, std::size_t units);

    /// Moves the window on to these spikes, and fills the levels and episodes of `table`, whose
    /// threshold is known. Spikes before the end of the last window are not looked at, so they have
    /// to be those of the window before, and there have to be numbers for the others.
    /// @returns false if the search needs more memory than it may.
    bool move_to(const spike_sequence& spikes, const std::stop_token& stop, episode_table& table);

    /// The memory of the counts of all pairs.
    static std::uint64_t bytes_of_pairs(const episode_mining_options& options, std::size_t units);
    /// The last window.
    duration begin() const { return begin_; }
    duration end() const { return end_; }
    std::size_t unit_count() const { return events_.unit_count(); }
    /// Whether so many spikes more can be numbered.
    bool has_numbers_for(std::size_t spikes) const {
        return spikes < std::numeric_limits<stream_position>::max() - events_.end();
    }

private:
    void move_events(const spike_sequence& spikes);
    std::span<const stream_position> new_spikes(unit_id unit) const;
    void settle_units();
    void settle(std::size_t size, const std::stop_token& stop);
    void drop_old(followed_episode& one) const;
    void update(followed_episode& one) const;
    void end_followed(std::vector<std::uint32_t>& level);
    void forget_pairs();
    void forget_candidates(const std::vector<std::uint32_t>& ended);
    void add_pairs();
    void add_candidates(const std::vector<std::uint32_t>& level);
    void count_waiting(std::uint32_t suffix, std::vector<std::uint32_t>& level,
                       const std::stop_token& stop);
    bool may_be_frequent(waiting_candidate& candidate, std::uint32_t suffix) const;
    std::uint64_t count_anew(const waiting_candidate& candidate, std::uint32_t suffix);
    template <class Emit>
    void extend(std::uint32_t prefix, std::uint32_t interval, const followed_episode& suffix,
                std::uint64_t seen, const Emit& emit) const;
    std::uint64_t candidates_of(std::size_t size) const;
    bool record(std::size_t size, double seconds, episode_table& table);
    bool is_frequent(std::uint32_t number) const { return graph_[number].count >= threshold_; }

    episode_mining_options options_;
    std::vector<delay_interval> delays_;
    window_events events_;
    pair_survivors pairs_;
    std::vector<bool> pair_is_known_;  // it is followed or waits
    episode_graph graph_;
    std::vector<std::vector<std::uint32_t>>
        levels_{};                        // the followed episodes of each size, sorted
    std::vector<std::uint32_t> ended_{};  // in this window
    std::vector<survivor> found_{};       // by the last count of a candidate
    duration begin_ = duration::min();
    duration end_ = duration::min();
    stream_position first_new_ = 0;
    std::uint64_t threshold_ = 0;
    bool needs_too_much_memory_ = false;
};

}  // namespace spikeweave::episodes
