#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave {

/// The average spike of each of several groups, such as units, on every channel.
struct SPIKEWEAVE_API mean_waveforms {
    std::size_t channel_count = 0;
    /// Frames of each waveform; its peak is at frame `before`.
    std::size_t frame_count = 0;
    std::size_t before = 0;
    /// Groups x frames x channels, in the unit of the filtered traces: microvolts.
    std::vector<float> values{};
    /// Standard deviations of the averaged spikes, laid out like `values`; 0 for a single spike.
    std::vector<float> deviations{};
    /// The averages of those spikes alone that are in the first and in the second half of the
    /// recording, laid out like `values`.
    std::array<std::vector<float>, 2> halves{};
    /// Number of spikes averaged for each group.
    std::vector<std::uint64_t> spikes{};
    /// The same in each half.
    std::array<std::vector<std::uint64_t>, 2> spikes_of_halves{};
    /// Standard deviation of each channel's noise in the same unit; 0 for a silent one.
    std::vector<double> noise{};

    std::size_t group_count() const { return spikes.size(); }
    std::span<const float> of(std::size_t group) const {
        const std::size_t size = frame_count * channel_count;
        return std::span{values}.subspan(group * size, size);
    }
    /// The largest absolute value divided by the noise of its channel. Empty for a group without
    /// spikes, or if no channel has noise.
    std::optional<double> signal_to_noise(std::size_t group) const;
};

/// Averages the filtered traces of up to `most` spikes per group, from blocks spread over the
/// recording; smaller groups are averaged completely. The window is that of the options, which
/// should be those of the detection. Traces are filtered on the devices of `run`, if it has any.
/// Bit-identical for any number of threads and devices.
/// @param frames the peak of each spike, in any order
/// @param groups the group of each spike, below `group_count`
/// @throws invalid_argument if these have different lengths or lie outside the recording;
/// io_error; device_error; cancelled.
SPIKEWEAVE_API mean_waveforms average_waveforms(const recording& from,
                                                std::span<const std::int64_t> frames,
                                                std::span<const std::uint32_t> groups,
                                                std::size_t group_count,
                                                const detection_options& options = {},
                                                const execution& run = {}, std::size_t most = 200);

}  // namespace spikeweave
