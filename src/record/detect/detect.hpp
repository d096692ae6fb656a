#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "record/detect/find_events.hpp"
#include "record/detect/trace_steps.hpp"
#include "record/filter/block_reader.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Whether detection runs on the devices of `run`: only the CPU undoes motion.
bool uses_devices(const detection_options& options, const execution& run);

/// The steps of detection, on the devices of `run` or on the CPU.
std::unique_ptr<trace_steps> steps_for(const filtered_recording& traces,
                                       const detection_options& options, std::size_t block_frames,
                                       const execution& run);

/// The channels that `detection_options::described_channels` requests around each one, ascending;
/// channels of its shank are first. Empty: all.
std::vector<std::vector<std::uint32_t>> described_channels_of(
    const std::vector<recording_channel>& channels, std::uint32_t most);

/// Finds the spikes, without their features.
found_events events_of(const filtered_recording& traces, const trace_steps& steps,
                       const detection_options& options, const execution& run);

/// `detect_spikes` with blocks of another size.
detection_result detect_in_blocks(const filtered_recording& traces,
                                  const detection_options& options, std::size_t block_frames,
                                  const execution& run);

/// Faults of the rig that the samples of a recording show, in up to 32 pieces of a quarter of a
/// second, as full sentences for the user: channels that stand at their limit, blanked times, and
/// channels that repeat another one's samples.
/// @throws invalid_argument if the samples of most channels jump by nearly 65,536 again and again,
/// because they are unsigned; io_error; cancelled.
std::vector<std::string> sample_faults(const recording& from, const execution& run);

}  // namespace spikeweave::record
