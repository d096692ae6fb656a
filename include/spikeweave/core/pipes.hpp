#pragma once

#include <stop_token>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// Ends waits for pipes that are given in place of files, such as lists of epochs, when a stop is
/// requested: the call that waits throws `cancelled`. For programs that stop on signals; holds for
/// all calls of the process that begin later.
SPIKEWEAVE_API void stop_waiting_for_pipes(std::stop_token stop);

}  // namespace spikeweave
