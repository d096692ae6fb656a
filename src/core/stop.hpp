#pragma once

#include <cstddef>
#include <stop_token>

#include "spikeweave/core/error.hpp"

namespace spikeweave::core {

/// Throws `cancelled` if a stop was requested. Long loops call it every few milliseconds.
inline void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw cancelled();
}

/// Checks only once in 256 steps, for loops whose steps take less than a millisecond.
inline void stop_at_times(std::size_t step, const std::stop_token& stop) {
    if (step % 256 == 0) throw_if_stopped(stop);
}

}  // namespace spikeweave::core
