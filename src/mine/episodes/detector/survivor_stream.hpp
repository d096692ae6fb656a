#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "mine/episodes/detector/stamp_ring.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

/// The beginnings of the armed episodes as a trie, so that what several episodes have in common is
/// followed once.
namespace spikeweave::episodes {

/// A step from a node to a longer beginning, taken by the spikes of one unit.
struct trie_step {
    std::uint32_t parent;
    std::uint32_t node;
    std::uint64_t low;  ///< in microseconds
    std::uint64_t high;
};

/// The end at a node: of an armed episode, or of the part of it at which it is detected.
struct trie_end {
    std::uint32_t episode;
    bool is_detection;
};

struct trie_node {
    std::size_t spikes = 0;         ///< in an occurrence of this beginning
    std::uint64_t largest_low = 0;  ///< of the steps that lead on
    bool leads_on = false;
    std::vector<trie_end> ends{};
};

class prefix_trie {
public:
    static constexpr std::uint32_t no_node = UINT32_MAX;

    /// @throws invalid_argument if an episode is invalid.
    prefix_trie(std::span<const armed_episode> armed, std::size_t unit_count);

    std::span<const trie_node> nodes() const { return nodes_; }
    /// The beginning that is this unit alone; `no_node` if no episode begins with it.
    std::uint32_t root(unit_id unit) const { return roots_[to_index(unit)]; }
    /// The steps that a spike of this unit can take.
    std::span<const trie_step> steps(unit_id unit) const {
        const std::size_t first = first_step_[to_index(unit)];
        return std::span{steps_}.subspan(first, first_step_[to_index(unit) + 1] - first);
    }

private:
    std::vector<trie_node> nodes_;
    std::vector<std::uint32_t> roots_;
    std::vector<std::size_t> first_step_;
    std::vector<trie_step> steps_;  // grouped by unit
};

/// Follows the beginnings of episodes through spikes that arrive one after another. A node of the
/// trie holds the survivors of a beginning that later spikes can still continue. A spike is looked
/// up in the nodes before those of its unit; the order of the nodes does not matter, because a
/// survivor at the same time is never before the spike.
class survivor_stream {
public:
    /// @throws invalid_argument if an episode is invalid.
    survivor_stream(std::span<const armed_episode> armed, std::size_t unit_count, tie_rule ties);

    const prefix_trie& trie() const { return trie_; }

    /// @throws invalid_argument if the spike is earlier than the one before it or its unit is
    /// unknown.
    void check(std::int64_t time_us, unit_id unit) const;
    /// Processes a spike that was checked; a second one of a unit at the same time is dropped.
    /// @param on_survivor  called with each node for which the spike is a survivor, the place of
    /// its latest start followed by the times of the spikes before it, and its own place. A place
    /// is a time, or the position in the stream for `tie_rule::order`.
    template <class OnSurvivor>
    void add(std::int64_t time_us, unit_id unit, const OnSurvivor& on_survivor);
    void flush();

    std::uint64_t duplicates() const { return duplicates_; }
    std::uint64_t reallocations() const { return reallocations_; }

private:
    bool is_duplicate(std::int64_t time_us, unit_id unit);
    void keep(std::uint32_t node, std::span<const std::int64_t> prefix, std::int64_t time_us);

    tie_rule ties_;
    prefix_trie trie_;
    std::vector<stamp_ring> rings_{};   // of each node
    std::vector<std::int64_t> newest_;  // time of the newest stamp of each node
    std::vector<std::optional<std::int64_t>> last_of_unit_;
    std::int64_t last_time_ = INT64_MIN;
    std::int64_t position_ = 0;
    std::uint64_t duplicates_ = 0;
    std::uint64_t reallocations_ = 0;
};

inline bool survivor_stream::is_duplicate(std::int64_t time_us, unit_id unit) {
    if (std::exchange(last_of_unit_[to_index(unit)], time_us) != time_us) return false;
    ++duplicates_;
    return true;
}

inline void survivor_stream::keep(std::uint32_t node, std::span<const std::int64_t> prefix,
                                  std::int64_t time_us) {
    if (!trie_.nodes()[node].leads_on) return;
    reallocations_ += rings_[node].push(prefix, time_us) ? 1 : 0;
    newest_[node] = time_us;
}

template <class OnSurvivor>
void survivor_stream::add(std::int64_t time_us, unit_id unit, const OnSurvivor& on_survivor) {
    last_time_ = time_us;
    if (is_duplicate(time_us, unit)) return;
    ++position_;
    const std::int64_t place = ties_ == tie_rule::time ? time_us : position_;
    for (const trie_step& step : trie_.steps(unit)) {
        // If the newest stamp is too old, all are.
        if (delay_us(newest_[step.parent], time_us) > step.high) continue;
        const auto prefix = rings_[step.parent].latest_before(time_us, step.low);
        if (prefix.empty() || delay_us(prefix.back(), time_us) > step.high) continue;
        on_survivor(step.node, prefix, place);
        keep(step.node, prefix, time_us);
    }
    if (const std::uint32_t root = trie_.root(unit); root != prefix_trie::no_node) {
        const std::span start{&place, 1};
        on_survivor(root, start, place);
        keep(root, start, time_us);
    }
}

}  // namespace spikeweave::episodes
