#pragma once

#include <cstdint>

#include "cli.hpp"
#include "spade_options.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::cli {

/// Says what the search will cost if it will take long or progress is shown.
/// @param is_collected  whether the patterns are held in memory
/// @throws invalid_argument if it needs more memory than the guard allows; cancelled.
void announce(const spade_input& prepared, const spade_command& options, bool is_collected,
              const memory_guard& guard, const session& now);

}  // namespace spikeweave::cli
