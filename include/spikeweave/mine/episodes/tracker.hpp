#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Counts of given episodes in a window that moves on with a stream of spikes. They are those of
/// `count_episodes` in the spikes of the window; docs/algorithms/live.md explains why.
namespace spikeweave {

/// Counts episodes in the last `length` of a stream.
///
/// The window is half open. It ends at the last time given to `advance` or just behind the last
/// spike, whichever is later, and holds all spikes of the `length` before. A spike takes a step for
/// each different way in which its unit continues a tracked episode. A count takes as many steps as
/// there are survivors before the first meeting point of the window, which are few unless a network
/// bursts.
///
/// To track episodes from a window on that was mined, such as its frequent ones, pass the tracker
/// the spikes of the window first (`window_spikes`) and then those that have arrived since.
class SPIKEWEAVE_API episode_tracker {
public:
    static constexpr std::size_t most_episodes = 10'000;

    /// @param unit_count  the units of spikes are below this
    /// @param length      of the window; 0: everything since the first spike
    /// @throws invalid_argument if an episode is invalid or there are too many, or the length is
    /// negative.
    episode_tracker(std::span<const episode> tracked, std::size_t unit_count, duration length,
                    tie_rule ties = tie_rule::time);
    ~episode_tracker();
    episode_tracker(const episode_tracker&) = delete;
    episode_tracker& operator=(const episode_tracker&) = delete;
    episode_tracker(episode_tracker&&) noexcept;
    episode_tracker& operator=(episode_tracker&&) noexcept;

    /// Processes a spike; a second one of a unit at the same time is dropped.
    /// @throws invalid_argument if the spike is before the end of the window or its unit is
    /// unknown; other spikes of the last time may follow. The spike is then left out.
    void add(std::int64_t time_us, unit_id unit);
    /// All spikes before this time have arrived. An earlier time than before changes nothing.
    void advance(std::int64_t time_us);
    /// Ends the epoch: forgets all spikes. The times that follow may start anywhere.
    void flush();

    std::size_t size() const;
    /// The count of an episode in the window. @throws invalid_argument if there is no such episode.
    std::uint64_t count(std::size_t episode);
    /// The number of survivors that are kept, of all episodes.
    std::size_t survivors_kept() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
