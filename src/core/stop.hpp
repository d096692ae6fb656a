#pragma once

#include <stop_token>

#include "synfire/core/error.hpp"

namespace synfire {

/// What long loops call every few milliseconds of work.
inline void throw_if_stopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw cancelled();
}

}  // namespace synfire
