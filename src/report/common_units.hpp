#pragma once

#include <span>
#include <vector>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The numbers that the units of one of several sequences get among those of all.
using unit_map = std::vector<unit_id>;

/// Gives all sequences the units of all of them, by their names and in natural order, so that a
/// unit has the same number everywhere.
std::vector<unit_map> join_units(std::span<spike_sequence* const> sequences);

}  // namespace spikeweave::report
