#pragma once

#include "synfire/core/execution.hpp"

namespace synfire {

/// The threads that work on a call: what was asked for, else the cores that this process may use
/// (its share of them among ranks).
int thread_count(const execution& run);

}  // namespace synfire
