#pragma once

#include <cstdint>
#include <span>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Converts detected spikes for `sort_spikes`: all features of a channel have the channel's mask.
/// Features of spikes that are described on some channels only are taken over as they are; else 12
/// bytes per feature are needed during the conversion. Times are not used, and may be empty.
/// @throws invalid_argument as `spike_features` if the parts are inconsistent.
SPIKEWEAVE_API spike_features to_features(const detection_result& spikes);
SPIKEWEAVE_API spike_features to_features(detection_result&& spikes);

/// Sets the noise of features to that in parts of the recording without a spike, if on some channel
/// fewer than 30 spikes are masked, as on a single channel, where none is.
/// @param frames   of the spikes, ascending
/// @param options  of the detection, with the basis of the features
/// @throws invalid_argument as `describe_spikes`; io_error; device_error; cancelled
SPIKEWEAVE_API void add_noise(spike_features& features, const recording& from,
                              std::span<const std::int64_t> frames,
                              const detection_options& options, const execution& run = {});

}  // namespace spikeweave
