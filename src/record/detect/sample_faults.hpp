#pragma once

#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// The faults of the rig that the samples of a recording reveal, in up to 32 pieces of a quarter of
/// a second, as full sentences for the user: channels that stand at their limit, blanked times, and
/// channels that repeat another one's samples.
/// @throws invalid_argument if the samples of most channels jump by nearly 65,536 again and again,
/// because they are unsigned; io_error; cancelled.
std::vector<std::string> sample_faults(const recording& from, const execution& run);

}  // namespace spikeweave::record
