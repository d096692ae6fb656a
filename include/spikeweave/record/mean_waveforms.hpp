#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave {

/// The average spike of each of several groups, such as units, on every channel.
struct mean_waveforms {
    std::size_t channel_count = 0;
    /// Of each waveform; its peak is at frame `before`.
    std::size_t frame_count = 0;
    std::size_t before = 0;
    /// Groups x frames x channels, in the unit of the filtered traces: microvolts.
    std::vector<float> values{};
    /// Spikes that each is the mean of.
    std::vector<std::uint64_t> spikes{};
    /// Standard deviation of each channel's noise in the same unit; 0 for a silent one.
    std::vector<double> noise{};

    std::size_t group_count() const { return spikes.size(); }
    std::span<const float> of(std::size_t group) const {
        const std::size_t size = frame_count * channel_count;
        return std::span{values}.subspan(group * size, size);
    }
    /// The largest height, whichever way it points, over the noise of its channel. Nothing for a
    /// group without spikes, or where no channel shows noise.
    std::optional<double> signal_to_noise(std::size_t group) const;
};

/// Takes the filtered traces of up to `most` spikes of each group, from blocks spread over the
/// recording, and all from a group that has no more. The window is that of the options, which
/// should be those of the detection. The same to the bit for any number of threads. The noise is
/// estimated on the devices of `run`; waveforms are taken on the CPU.
/// @param frames  of the peak of each spike, in any order
/// @param groups  of each spike, below `group_count`
/// @throws invalid_argument if these do not belong together or lie outside of the recording;
/// io_error; cancelled.
mean_waveforms average_waveforms(const recording& from, std::span<const std::int64_t> frames,
                                 std::span<const std::uint32_t> groups, std::size_t group_count,
                                 const detection_options& options = {}, const execution& run = {},
                                 std::size_t most = 200);

}  // namespace spikeweave
