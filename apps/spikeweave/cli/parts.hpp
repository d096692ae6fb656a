#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/invocation.hpp"
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
/// @throws invalid_argument if the part cannot be made or has no place.
void check_part(const part_options& options, const surrogate_options& surrogates,
                const std::filesystem::path& to);

/// Sets the options of a command to those of the parts, which were written with the same list.
void take_parameters(const std::vector<part_record>& parts, option_list described);

/// Writes a part.
/// @param input  what was read
/// @param described  all options of the command
void write_part(const std::filesystem::path& to, bool overwrite, part_record part, run_record input,
                option_list described, const invocation& now, const execution& run);

}  // namespace spikeweave::cli
