#pragma once

#include "spikeweave/core/export.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Converts detected spikes for `sort_spikes`: all features of a channel have the channel's mask.
/// Features of spikes that are described on some channels only are taken over as they are; else 12
/// bytes per feature are needed during the conversion. Times are not used, and may be empty.
/// @throws invalid_argument as `spike_features` if the parts are inconsistent.
SPIKEWEAVE_API spike_features to_features(const detection_result& spikes);
SPIKEWEAVE_API spike_features to_features(detection_result&& spikes);

}  // namespace spikeweave
