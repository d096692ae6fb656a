#pragma once

#include "cli.hpp"
#include "spade_options.hpp"

namespace spikeweave::cli {

/// What `spikeweave spade` mines, and what there is to say of FILE.
struct spade_file_input {
    spade_input prepared;
    run_record record{};  ///< input, warnings and what was dropped
};

/// Reads and prepares FILE.
/// @throws io_error, invalid_argument, cancelled.
spade_file_input read_input(const spade_choices& choices, const memory_guard& memory, session& now);

}  // namespace spikeweave::cli
