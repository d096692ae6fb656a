#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Detection of given episodes while spikes arrive. The detections are those that
/// `find_occurrences` finds in the same spikes; docs/algorithms/live.md explains why.
namespace spikeweave {

/// An episode to detect.
struct armed_episode {
    episode what;
    /// The spike of an occurrence, counted from 1, at which it is detected, so that its end can be
    /// predicted; 0 means at its last one.
    std::size_t fire_at = 0;
};

struct episode_detector_options {
    tie_rule ties = tie_rule::time;
};

SPIKEWEAVE_API option_list describe(episode_detector_options& options);

/// Reads episodes as `read_episodes` does. A line may end with the spike at which the episode is
/// detected: `n0 4-6ms n1 4-6ms n2 @2`.
/// @throws io_error with the file and the line.
SPIKEWEAVE_API std::vector<armed_episode> read_armed_episodes(const std::filesystem::path& path,
                                                              const spike_sequence& spikes);

/// The first `fire_at` spikes of an occurrence.
struct episode_detection {
    std::size_t episode;                     ///< index among the armed episodes
    std::span<const std::int64_t> times_us;  ///< valid until the detector changes
};

/// The counts of an armed episode since it was armed. An episode that is detected before its last
/// spike may not be completed; `completed` counts without overlap, as `count_episodes` does.
struct detection_counts {
    std::uint64_t detected = 0;
    std::uint64_t completed = 0;

    friend bool operator==(const detection_counts&, const detection_counts&) = default;
};

/// Detects armed episodes in spikes that are given one after another.
///
/// A spike takes a step for each different way in which its unit continues the beginning of an
/// armed episode. No memory is allocated after construction unless a unit fires faster than 1 kHz
/// for as long as a delay, or more than 64 times within one (`reallocations`).
class SPIKEWEAVE_API episode_detector {
public:
    /// @param unit_count  the units of spikes are below this
    /// @throws invalid_argument if an episode is invalid or `fire_at` is above its size.
    episode_detector(std::vector<armed_episode> armed, std::size_t unit_count,
                     const episode_detector_options& options = {});
    ~episode_detector();
    episode_detector(const episode_detector&) = delete;
    episode_detector& operator=(const episode_detector&) = delete;
    episode_detector(episode_detector&&) noexcept;
    episode_detector& operator=(episode_detector&&) noexcept;

    /// Processes a spike and returns the detections that it completes, in the order of the armed
    /// episodes. A second spike of a unit at the same time is dropped, as `spike_sequence_builder`
    /// does.
    /// @throws invalid_argument if the spike is earlier than the one before it or its unit is
    /// unknown; the spike is then left out.
    std::span<const episode_detection> add(std::int64_t time_us, unit_id unit);

    /// Processes several spikes, and calls `on_detection` with each detection.
    /// @throws invalid_argument if there are not as many times as units, and like the other `add`;
    /// the spikes before an invalid one are then taken.
    template <class OnDetection>
    void add(std::span<const std::int64_t> times_us, std::span<const unit_id> units,
             const OnDetection& on_detection) {
        check_sizes(times_us.size(), units.size());
        for (std::size_t i = 0; i < times_us.size(); ++i) {
            for (const episode_detection& detection : add(times_us[i], units[i]))
                on_detection(detection);
        }
    }

    /// Ends the epoch: no occurrence continues in the spikes that follow, whose times may start
    /// anywhere. Counts go on.
    void flush();

    std::span<const armed_episode> armed() const;
    /// @throws invalid_argument if there is no such episode.
    detection_counts counts(std::size_t episode) const;
    /// The number of spikes that were dropped because they were given twice.
    std::uint64_t duplicates() const;
    /// The number of memory allocations after construction.
    std::uint64_t reallocations() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    static void check_sizes(std::size_t times, std::size_t units);

    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
