#pragma once

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The number of threads that work on a call: `run.threads`, or, if that is 0, the number of cores
/// that this process may use (with ranks, its share of them).
SPIKEWEAVE_API int thread_count(const execution& run);

}  // namespace spikeweave
