#pragma once

#include <string>
#include <utility>
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

/// The options of an analysis whose surrogates several runs can divide.
template <class Analysis>
struct divided_command : spike_command<Analysis> {
    part_options parts{};
};

/// The place to which the parts of a divided analysis are merged, and that of its input now.
struct merge_target {
    output_options output{};
    std::string input{};
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
/// @param input  the record of the input
/// @param described  all options of the command
/// @param epochs  as above
void write_part(const output_options& output, part_record part, run_record input,
                option_list described, std::vector<time_span>& epochs, const invocation& call,
                const execution& run);

/// Writes the tally of a part of the surrogates of a command.
template <class Command, class Tally>
void write_part(Command& options, const char* verb, run_record input, const Tally& tally,
                const invocation& call, const execution& run) {
    write_part(options.output,
               {.run = {.seed = options.analysis.surrogates.seed},
                .verb = verb,
                .part = options.parts.part,
                .tally = tally.to_bytes()},
               std::move(input), describe_part(options), epochs_of(options), call, run);
}

/// Runs a command with the options and the tallies of its parts.
template <class Command>
void run_merged(const std::vector<part_record>& parts, const merge_target& target,
                invocation& call) {
    Command options;
    options.input.path = target.input;
    options.output = target.output;
    options.parts.merged = parts;
    take_parameters(parts, describe_part(options), epochs_of(options));
    run(options, call);
}

}  // namespace spikeweave::cli
