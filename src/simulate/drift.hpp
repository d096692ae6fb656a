#pragma once

#include <span>
#include <vector>

#include "spikeweave/simulate/recording.hpp"

namespace spikeweave::simulate {

/// The motion of the units from 0 to the length of the recording; empty without drift.
/// @throws invalid_argument if they would begin to move after the end.
std::vector<simulated_displacement> motion_of(const recording_options& options);

/// The displacement at a time within the recording; 0 without drift.
double displacement_um(std::span<const simulated_displacement> motion, double time_us);

}  // namespace spikeweave::simulate
