#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/mine/bursts.hpp"

/// The steps of finding bursts: those of one unit, by the intervals between its spikes, and those
/// of the network, by the bursts of its units.
namespace spikeweave::bursts {

/// The indices of the first and the last spike of a burst.
struct spike_range {
    std::size_t first = 0;
    std::size_t last = 0;

    std::size_t spikes() const { return last - first + 1; }
};

/// Bursts by fixed intervals. @param times_us  spikes of a unit in one epoch
std::vector<spike_range> by_fixed_intervals(std::span<const std::int64_t> times_us,
                                            const burst_options& options);

/// The histogram of the logarithms of the intervals of a unit.
class interval_histogram {
public:
    /// Adds the intervals between these spikes.
    void add(std::span<const std::int64_t> times_us);

    /// The longest interval in bursts: the emptiest bin between the highest peak below `core` and a
    /// later peak from which it is separated. It is `core` if there is none below a second, and
    /// unknown if no peak is below `core`.
    std::optional<duration> longest_interval(duration core) const;

private:
    static constexpr std::size_t bin_count = 100;  // ten in each power of ten, from 1 ms on
    std::uint64_t counts_[bin_count] = {};
};

/// Bursts of `min_spikes` or more spikes without an interval above `longest`, one of which is at
/// most `core`.
std::vector<spike_range> by_longest_interval(std::span<const std::int64_t> times_us,
                                             duration longest, duration core,
                                             std::uint32_t min_spikes);

/// The times in which so many units or more are in a burst. Those of an epoch that are nearer than
/// `min_separation` are one, and none is shorter than `min_duration`.
/// @param bursts  by their beginning; each gets the network burst that it overlaps
std::vector<network_burst> network_bursts(const spike_sequence& spikes,
                                          std::vector<unit_burst>& bursts, std::uint64_t units,
                                          const burst_options& options);

}  // namespace spikeweave::bursts
