#pragma once

#include "cli.hpp"
#include "spade_options.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::cli {

/// The prepared content of FILE, and the record of reading it.
struct spade_file_input {
    spade_input prepared;
    run_record record{};  ///< input, warnings and what was left out
};

/// Reads and prepares FILE.
/// @throws io_error, invalid_argument, cancelled.
spade_file_input read_spade_input(const spade_command& options, const memory_guard& memory,
                                  const session& now);

}  // namespace spikeweave::cli
