#pragma once

#include "spikeweave/pipeline/sort.hpp"

namespace spikeweave::pipeline {

/// Warns of units with the spikes of another one: a neuron that was detected on two groups of
/// channels.
void warn_of_repeated_units(sort_result& result);
/// Warns of units that are in step with the mains.
void warn_of_mains(sort_result& result);

}  // namespace spikeweave::pipeline
