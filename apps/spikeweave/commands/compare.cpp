#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/epoch_source.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/report/episodes/conditions.hpp"

namespace spikeweave::cli {
namespace {

struct compare_command {
    std::vector<std::string> files{};  ///< one recording with two sets of epochs, or two
    std::array<std::vector<std::string>, 2> groups{};
    std::array<epoch_source_options, 2> epochs{};
    spike_input_options input{};
    std::filesystem::path to{};
    bool overwrite = false;
    condition_options analysis{};
};

option_list describe(compare_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: differences.tsv, differences.graphml, differences.svg and run.json")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    list.begin_group("Conditions");
    for (const std::size_t c : {0U, 1U}) {
        const std::string name(1, c == 0 ? 'a' : 'b');
        list.add("epochs_" + name, options.epochs[c].epochs,
                 fmt::format("the epochs of condition {} in FILE: a table of beginnings and ends "
                             "in seconds, or an NWB file with trials",
                             name))
            .written("EPOCHS");
        add_around(
            list, "around_" + name, options.epochs[c],
            fmt::format("this part of time around each event is an epoch of condition {}", name))
            .not_with({"epochs_" + name});
    }
    list.add_all(describe(options.analysis));
    return list;
}

// The recordings of a condition.
std::vector<spike_sequence> read_group(compare_command& options,
                                       const std::vector<std::string>& files,
                                       condition_report& report, std::size_t condition,
                                       const session& now, const execution& run) {
    std::vector<spike_sequence> out;
    for (const std::string& file : files) {
        options.input.path = file;
        spike_input input = read_input(options.input, now, run);
        now.warn(report.run, input.record.warnings);
        report.run.duplicates += input.record.duplicates;
        report.inputs[condition].push_back(std::move(input.record.input));
        out.push_back(std::move(input.spikes));
    }
    return out;
}

condition_comparison compare_two_epochs(compare_command& options, condition_report& report,
                                        const session& now, const execution& run) {
    options.input.path = options.files.front();
    const spike_input input = read_input(options.input, now, run);
    now.warn(report.run, input.record.warnings);
    report.inputs = {std::vector{input.record.input}, std::vector{input.record.input}};
    std::array<std::vector<time_span>, 2> epochs;
    for (const std::size_t c : {0U, 1U})
        take_epochs(options.epochs[c], options.input.path, input, epochs[c], run);
    return compare_epochs(input.spikes, epochs[0], epochs[1], options.analysis, run);
}

condition_comparison compare_inputs(compare_command& options, condition_report& report,
                                    const session& now, const execution& run) {
    const auto [a, b] = options.groups;
    const bool have_groups = !a.empty() || !b.empty();
    const bool have_epochs = options.epochs[0].given() || options.epochs[1].given();
    if (options.epochs[0].given() && options.epochs[1].given() && options.files.size() == 1 &&
        !have_groups)
        return compare_two_epochs(options, report, now, run);
    const bool have_files = options.files.size() == 2 && !have_groups;
    if (have_epochs || !(have_files || (options.files.empty() && !a.empty() && !b.empty())))
        throw invalid_argument(
            "give two files; or --group-a and --group-b with the files of each; or one file with "
            "the epochs of a and of b (--epochs-a or --around-a, --epochs-b or --around-b)");
    const auto read = [&](std::size_t condition) {
        return read_group(
            options, have_files ? std::vector{options.files[condition]} : options.groups[condition],
            report, condition, now, run);
    };
    const std::vector<spike_sequence> of_a = read(0);
    return compare_conditions(of_a, read(1), options.analysis, run);
}

void compare(compare_command& options, session& now) {
    if (!options.to.empty()) check_output_place(options.to, options.overwrite);
    const execution run = now.run(options.analysis.run.threads);
    condition_report read;
    condition_report report = report_of(compare_inputs(options, read, now, run), run);
    now.warn(read.run, report.result.warnings);
    report.inputs = std::move(read.inputs);
    report.run.warnings = std::move(read.run.warnings);
    report.run.command = now.command_line;
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "drop_duplicates_of_units",
                    "drop_synchronous", "synchrony_window", "max_rate", "min_snr", "groups",
                    "group_window", "only_units", "epochs_a", "epochs_b", "around_a", "around_b"});
    report.run.seconds = now.seconds();
    if (!options.to.empty()) write_condition_report(options.to, report, options.overwrite, run);
    now.progress.clear();
    if (!now.quiet) write_stdout(summarize(report));
}

void run(compare_command& options, session& now) {
    run_within_memory(options.analysis.mining.max_memory_bytes,
                      "a larger --min-count or a --max-size gives fewer episodes", now,
                      [&](const memory_guard&, session& guarded) { compare(options, guarded); });
}

}  // namespace

void add_compare(CLI::App& app, command& chosen) {
    const auto options = std::make_shared<compare_command>();
    CLI::App& sub =
        *app.add_subcommand("compare", "Test which episodes differ between two conditions.");
    sub.add_option(
           "FILE", options->files,
           "two files or folders of spikes, of which the first is condition a; or one, with "
           "the epochs of both conditions")
        ->expected(0, 2)
        ->type_name("")
        ->group("Input");
    add_described(sub, describe(*options));
    for (const std::size_t c : {0U, 1U}) {
        const std::string name(1, c == 0 ? 'a' : 'b');
        sub.add_option("--group-" + name, options->groups[c],
                       "the recordings of condition " + name + ", each of which is one sample")
            ->type_name("FILE ...")
            ->group("Conditions");
    }
    sub.footer(
        "Examples: spikeweave compare before.nwb after.nwb --delays 1-4ms -o change\n"
        "          spikeweave compare day.nwb --epochs-a rest.tsv --epochs-b run.tsv\n"
        "          spikeweave compare --group-a wt1 wt2 wt3 wt4 --group-b ko1 ko2 ko3 ko4");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
