#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "cli/invocation.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/report/output_place.hpp"

/// Where the result of an analysis goes: the beginning and the end of every such command.
namespace spikeweave::cli {

/// Where a file or folder goes.
struct place_options {
    std::filesystem::path to{};
    bool overwrite = false;
    bool json = false;
};

/// Adds --output, which is required, and --overwrite.
/// @param placeholder  stands for the file or folder
/// @param replaced  the files that --overwrite replaces; empty: this file or folder
void describe_place(option_list& list, place_options& options, const std::string& help,
                    const std::string& placeholder, const std::string& replaced = {});
/// Adds --json.
void add_json(option_list& list, bool& wanted);
void add_json(CLI::App& app, bool& wanted);

/// The place of a result; none: the result is only printed.
struct output_options : place_options {
    bool report = true;  ///< whether the folder has a page
};

/// Adds --output, --overwrite, --no-report and --json.
/// @param files  those of the folder
void describe_output(option_list& list, output_options& options, const std::string& files);

/// The options that all analyses of spikes have, and those of one of them.
template <class Analysis>
struct spike_command {
    spike_input_options input{};
    output_options output{};
    Analysis analysis{};
};
/// Lists them.
/// @param files  those of the folder
template <class Analysis>
option_list describe_command(spike_command<Analysis>& options, const std::string& files) {
    option_list list = describe(options.input);
    describe_output(list, options.output, files);
    list.add_all(describe(options.analysis));
    return list;
}
/// Adds --occurrences, for episodes.
void add_occurrences(option_list& list, bool& wanted);
/// Adds --max-memory for an analysis without a bound of its own; 0 is the usual one.
void add_max_memory(option_list& list, std::uint64_t& bytes);

/// @throws io_error if a result of this kind cannot be written there.
void check_place(const output_options& options, result_kind kind, const invocation& call);

/// Moves what is known of the input into the record of a result, behind the parameters that it has.
void record_input(run_record& into, run_record input, const invocation& call);

/// Prints the result as one JSON document, or else as a text, whose first line is the result in a
/// sentence.
template <class Report, class Summarize>
void print_result(const output_options& options, const Report& report, const invocation& call,
                  const Summarize& summary) {
    if constexpr (requires { to_json(report); }) {
        if constexpr (requires { json_bytes(report); })
            if (options.json && call.memory != nullptr) call.memory->expect(json_bytes(report));
        if (options.json) return call.print(true, one_document(to_json(report)), {});
    }
    if (call.quiet) return call.progress.clear();
    const std::string text = summary(report);
    const std::size_t first = text.find('\n') + 1;
    call.progress.remove();
    write_stdout(std::string_view(text).substr(0, first));
    call.progress.clear();
    write_stdout(std::string_view(text).substr(first));
}

/// Completes the record of a result.
template <class Report>
void complete_record(const output_options& options, Report& report, run_record input,
                     const invocation& call) {
    record_input(report.run, std::move(input), call);
    report.run.seconds = call.seconds();
    if constexpr (requires { report.with_page; }) report.with_page = options.report;
}

/// Shows the warnings of a result, and returns its report.
template <class Result>
auto report_on(spike_input& input, Result result, const invocation& call, const execution& run) {
    result.warnings = call.warn(input.record, result.warnings);
    return report_of(std::move(input.spikes), std::move(result), run);
}

/// Completes the record of a result, writes it, and prints it.
/// @param input  the record of what was read, with all parameters that are not of the analysis
template <class Report, class Summarize>
void finish_command(const output_options& options, Report& report, run_record input,
                    const invocation& call, const execution& run, const Summarize& summary) {
    complete_record(options, report, std::move(input), call);
    if (!options.to.empty()) write_report(options.to, report, options.overwrite, run);
    print_result(options, report, call, summary);
}
/// Does so with the usual text.
template <class Report>
void finish_command(const output_options& options, Report& report, run_record input,
                    const invocation& call, const execution& run) {
    finish_command(options, report, std::move(input), call, run,
                   [](const Report& shown) { return summarize(shown); });
}

}  // namespace spikeweave::cli
