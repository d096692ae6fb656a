#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mine/episodes/tracker/survivor_window.hpp"
#include "mine/episodes/windows/sliding/window_events.hpp"

namespace spikeweave::episodes {

/// A survivor of an episode that is followed: the positions of its start and of the last spike that
/// it overlaps, and the spikes from which the last step of the episode leads to its end.
struct survivor {
    stream_position start;
    stream_position end;
    window_events::range before;
};

/// A candidate that is not followed: `prefix` continued by the last step of the episode at which it
/// waits, its suffix. It had at most `most` occurrences when the suffix had got `seen` survivors in
/// all. Later ones end with later survivors of the suffix.
struct waiting_candidate {
    std::uint32_t prefix;
    std::uint32_t delay;  ///< the number of the last interval
    std::int64_t most;
    std::int64_t seen;

    /// No more occurrences than these and the survivors of the suffix, all together.
    std::int64_t above() const { return most - seen; }
};

/// `most` of a candidate that has not been counted.
constexpr std::int64_t never_counted = std::numeric_limits<std::int64_t>::max() / 2;

/// An episode that is followed: it has a list of survivors, and is a prefix and suffix of
/// candidates.
struct followed_episode {
    std::vector<unit_id> units{};
    std::vector<std::uint32_t> delays{};
    std::uint32_t prefix = 0;
    std::uint32_t suffix = 0;
    survivor_window<survivor> list{false};
    std::uint64_t added_before = 0;  ///< survivors that were added before this window
    std::uint64_t count = 0;
    bool is_followed = false;
    bool is_new = false;                  ///< it has been followed since this window
    std::vector<std::uint32_t> begins{};  ///< followed episodes of which it is the prefix
    std::vector<std::uint32_t> ends{};    ///< followed episodes of which it is the suffix
    std::vector<waiting_candidate> waiting{};
    std::int64_t most_above = 0;  ///< no candidate that waits has more

    std::size_t size() const { return units.size(); }
};

/// The episodes that are followed, by their numbers. The first ones are the units.
class episode_graph {
public:
    explicit episode_graph(std::size_t units);

    followed_episode& operator[](std::uint32_t number) { return episodes_[number]; }
    const followed_episode& operator[](std::uint32_t number) const { return episodes_[number]; }
    std::size_t size() const { return episodes_.size(); }
    bool less(std::uint32_t a, std::uint32_t b) const;

    /// Adds `prefix` continued by `delay` and the last unit of `suffix`.
    std::uint32_t follow(std::uint32_t prefix, std::uint32_t delay, std::uint32_t suffix);
    /// Takes an episode out of the lists of its prefix and suffix, because it is no longer
    /// followed.
    void unfollow(std::uint32_t number);
    /// Frees the numbers of episodes that are no longer in any list.
    void remove(std::span<const std::uint32_t> numbers);

    /// A candidate waits until its suffix has enough new survivors.
    void wait(std::uint32_t suffix, const waiting_candidate& candidate);

private:
    std::vector<followed_episode> episodes_;
    std::vector<std::uint32_t> free_{};
};

}  // namespace spikeweave::episodes
