#pragma once

#include "spikeweave/core/export.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Converts detected spikes for `sort_spikes`: all features of a channel have the channel's mask.
/// Needs 12 bytes per feature during the conversion; afterwards the caller can free `spikes`.
/// @throws invalid_argument as `spike_features` if the parts are inconsistent.
SPIKEWEAVE_API spike_features to_features(const detection_result& spikes);

}  // namespace spikeweave
