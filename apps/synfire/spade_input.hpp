#pragma once

#include <string>
#include <vector>

#include "cli.hpp"
#include "spade_options.hpp"

namespace synfire::cli {

/// What `synfire spade` mines, and how its numbers lead back to the file.
struct spade_input {
    pattern_axes axes{};
    pattern_input facts{};
    spade_windows windows;
    /// As they are binned: of joined epochs on their own axis. Empty for windows that were given.
    spike_sequence spikes{};
    binning bins{};
    std::vector<time_span> trials{};  ///< on the axis of `spikes`
    std::vector<pattern_rule> rules{};
    std::string beginning{};  ///< of bins and trials, in words
    run_record record{};      ///< input, warnings and what was dropped
};

/// Reads, cuts, bins and windows FILE; settles what depends on the data: rules, trials, the
/// surrogates' method.
/// @throws io_error, invalid_argument, cancelled.
spade_input read_input(spade_choices& choices, session& now);

}  // namespace synfire::cli
