#pragma once

#include <vector>

#include "cli/invocation.hpp"
#include "cli/result_output.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/report/part_record.hpp"

/// Runs that divide the surrogates of an analysis, and the one that merges them.
namespace spikeweave::cli {

struct part_options {
    surrogate_part part{};
    /// The parts to merge; empty: the surrogates are not made yet.
    std::vector<part_record> merged{};
};

void add_part_option(option_list& list, part_options& options);
/// Checks the part, and the place of its file or of the whole result.
/// @throws invalid_argument if the part cannot be made or has no place; io_error.
void check_part(const part_options& options, const surrogate_options& surrogates,
                const output_options& output, result_kind whole, const invocation& call);

/// Sets the options of a command to those of the parts, which were written with the same list.
/// @param epochs  those of the analysis, because parts contain them instead of their file
void take_parameters(const std::vector<part_record>& parts, option_list described,
                     std::vector<time_span>& epochs);

/// Writes a part.
/// @param input  what was read
/// @param described  all options of the command
/// @param epochs  as above
void write_part(const output_options& output, part_record part, run_record input,
                option_list described, std::vector<time_span>& epochs, const invocation& call,
                const execution& run);

}  // namespace spikeweave::cli
