#pragma once

#include "spikeweave/record/detection.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Detected spikes as `sort_spikes` takes them: all features of a channel have the channel's mask.
/// Holds 12 bytes a feature for as long as it takes; the caller can then give up `spikes`.
/// @throws invalid_argument as `spike_features` if the parts do not belong together.
spike_features to_features(const detected_spikes& spikes);

}  // namespace spikeweave
