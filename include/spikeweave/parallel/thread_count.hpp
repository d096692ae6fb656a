#pragma once

#include "spikeweave/core/execution.hpp"

namespace spikeweave {

/// The threads that work on a call: what was asked for, else the cores that this process may use
/// (its share of them among ranks).
int thread_count(const execution& run);

}  // namespace spikeweave
