#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <span>
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
#include "spikeweave/report/compare/episodes.hpp"
#include "spikeweave/report/compare/spade.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {
namespace {

struct compare_command {
    std::vector<std::string> files{};  ///< one recording with two sets of epochs, or two
    std::array<std::vector<std::string>, 2> groups{};
    std::array<epoch_source_options, 2> epochs{};
    spike_input_options input{};
    std::filesystem::path to{};
    bool overwrite = false;
    bool report = true;
    bool json = false;
    episode_comparison_options analysis{};
    std::vector<std::string> patterns{};       ///< results of SPADE; empty: episodes are compared
    pattern_comparison_options of_patterns{};  ///< what these have of their own
};

bool list_has(const option_list& list, const std::string& name) {
    return std::ranges::find(list, name, &option::name) != list.end();
}

// The options for patterns. Those that the comparison of episodes has, too, are taken from it.
void describe_patterns(option_list& list, compare_command& options) {
    for (const option& one : describe(options.analysis.mining))
        if (one.name != "max_memory") list.change(one.name).excludes.emplace_back("patterns");
    for (const option& one : describe(options.analysis.significance))
        list.change(one.name).excludes.emplace_back("patterns");
    list.change("findings").excludes.emplace_back("patterns");
    option_list own = describe(options.of_patterns);
    for (const option& one : describe(options.analysis))
        if (list_has(own, one.name)) own.remove(one.name);
    list.begin_group("Patterns");
    list.add("patterns", options.patterns,
             "instead of episodes, compare the patterns of this result of spade, or only the "
             "significant ones if they were tested; may be given several times")
        .repeated()
        .written("RESULT");
    for (const char* const name : {"surrogates", "dither"}) {
        own.change(name).group = "Patterns";
        own.change(name).only_with("patterns");
    }
    list.add_all(std::move(own));
}

option_list describe(compare_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: differences.tsv, run.json and report.html, and of episodes "
             "differences.graphml")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
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
    describe_patterns(list, options);
    return list;
}

/// What is known of the files that were read.
struct files_read {
    std::array<std::vector<input_record>, 2> inputs{};
    run_record run{};
};

// The recordings of a condition.
std::vector<spike_sequence> read_group(compare_command& options,
                                       const std::vector<std::string>& files, files_read& read,
                                       std::size_t condition, const invocation& now,
                                       const execution& run) {
    std::vector<spike_sequence> out;
    for (const std::string& file : files) {
        options.input.path = file;
        spike_input input = read_input(options.input, now, run);
        now.warn(read.run, input.record.warnings);
        read.run.duplicates += input.record.duplicates;
        read.inputs[condition].push_back(std::move(input.record.input));
        out.push_back(std::move(input.spikes));
    }
    return out;
}

using recordings = std::span<const spike_sequence>;
using epoch_span = std::span<const time_span>;

// Reads two sets of epochs of one recording, and compares them.
template <class CompareEpochs>
auto compare_two_epochs(compare_command& options, files_read& read, const invocation& now,
                        const execution& run, const CompareEpochs& compare_epochs_of) {
    options.input.path = options.files.front();
    spike_input input = read_input(options.input, now, run);
    read.inputs = {std::vector{input.record.input}, std::vector{input.record.input}};
    std::array<std::vector<time_span>, 2> epochs;
    std::vector<std::string>& warnings = input.record.warnings;
    for (const std::size_t c : {0U, 1U}) {
        const std::size_t of_recording = warnings.size();
        take_epochs(options.epochs[c], options.input.path, input, epochs[c], run);
        for (std::size_t w = of_recording; w < warnings.size(); ++w)
            warnings[w] = fmt::format("Condition {}: {}", c == 0 ? 'a' : 'b', warnings[w]);
    }
    now.warn(read.run, input.record.warnings);
    return compare_epochs_of(input.spikes, epoch_span(epochs[0]), epoch_span(epochs[1]));
}

// Reads what the two conditions are, and compares them.
template <class Compare, class CompareEpochs>
auto compare_inputs(compare_command& options, files_read& read, const invocation& now,
                    const execution& run, const Compare& compare_recordings,
                    const CompareEpochs& compare_epochs_of) {
    const auto [a, b] = options.groups;
    const bool have_groups = !a.empty() || !b.empty();
    const bool have_epochs = options.epochs[0].given() || options.epochs[1].given();
    if (options.epochs[0].given() && options.epochs[1].given() && options.files.size() == 1 &&
        !have_groups)
        return compare_two_epochs(options, read, now, run, compare_epochs_of);
    const bool have_files = options.files.size() == 2 && !have_groups;
    if (have_epochs || !(have_files || (options.files.empty() && !a.empty() && !b.empty())))
        throw invalid_argument(
            "give two files; or --group-a and --group-b with the files of each; or one file with "
            "the epochs of a and of b (--epochs-a or --around-a, --epochs-b or --around-b)");
    std::vector<std::string> all = have_files ? options.files : a;
    if (!have_files) all.insert(all.end(), b.begin(), b.end());
    if (std::ranges::count_if(all, is_standard_input) > 1)
        throw invalid_argument("standard input (-) is given twice, but can be read only once");
    const auto group = [&](std::size_t condition) {
        return read_group(
            options, have_files ? std::vector{options.files[condition]} : options.groups[condition],
            read, condition, now, run);
    };
    const std::vector<spike_sequence> of_a = group(0);
    const std::vector<spike_sequence> of_b = group(1);
    return compare_recordings(recordings(of_a), recordings(of_b));
}

episode_comparison_report compare_found(compare_command& options, files_read& read,
                                        const invocation& now, const execution& run) {
    return report_of(compare_inputs(
                         options, read, now, run,
                         [&](recordings a, recordings b) {
                             return compare_episodes(a, b, options.analysis, run);
                         },
                         [&](const spike_sequence& spikes, epoch_span a, epoch_span b) {
                             return compare_epochs(spikes, a, b, options.analysis, run);
                         }),
                     run);
}

pattern_comparison_report compare_given_patterns(compare_command& options, files_read& read,
                                                 const invocation& now, const execution& run) {
    const episode_comparison_options& shared = options.analysis;
    pattern_comparison_options& how = options.of_patterns;
    how.block = shared.block;
    how.permutation = shared.permutation;
    how.change_alpha = shared.change_alpha;
    how.change_correction = shared.change_correction;
    how.run = shared.run;
    std::vector<named_patterns> results;
    for (const std::string& folder : options.patterns)
        results.push_back(read_named_patterns(folder));
    const named_patterns given = joined_patterns(results);
    return report_of(
        compare_inputs(
            options, read, now, run,
            [&](recordings a, recordings b) { return compare_patterns(a, b, given, how, run); },
            [&](const spike_sequence& spikes, epoch_span a, epoch_span b) {
                return compare_patterns_in_epochs(spikes, a, b, given, how, run);
            }),
        run);
}

// Completes the report, writes and prints it.
template <class Report, class Write>
void deliver(Report report, files_read read, compare_command& options, invocation& now,
             const Write& write) {
    now.warn(read.run, report.result.warnings);
    report.inputs = std::move(read.inputs);
    report.run.warnings = std::move(read.run.warnings);
    report.run.command = now.command_line;
    add_parameters(
        report.run.parameters, describe(options),
        {"format", "time_unit", "allow_negative", "labels", "drop_duplicates_of_units",
         "drop_synchronous", "synchrony_window", "max_rate", "min_snr", "groups", "group_window",
         "only_units", "epochs_a", "epochs_b", "around_a", "around_b", "patterns"});
    report.run.seconds = now.seconds();
    report.with_page = options.report;
    if (!options.to.empty()) write(report);
    now.progress.clear();
    if (options.json)
        write_stdout(to_json(report));
    else if (!now.quiet)
        write_stdout(summarize(report));
}

void compare(compare_command& options, invocation& now) {
    if (!options.to.empty())
        check_result_place(options.to, options.overwrite,
                           options.patterns.empty() ? result_kind::episode_differences
                                                    : result_kind::pattern_differences);
    const execution run = now.run(options.analysis.run.threads);
    files_read read;
    if (options.patterns.empty()) {
        episode_comparison_report report = compare_found(options, read, now, run);
        return deliver(std::move(report), std::move(read), options, now,
                       [&](const episode_comparison_report& made) {
                           write_episode_comparison_report(options.to, made, options.overwrite,
                                                           run);
                       });
    }
    pattern_comparison_report report = compare_given_patterns(options, read, now, run);
    deliver(std::move(report), std::move(read), options, now,
            [&](const pattern_comparison_report& made) {
                write_pattern_comparison_report(options.to, made, options.overwrite, run);
            });
}

void run(compare_command& options, invocation& now) {
    run_within_memory(options.analysis.mining.max_memory_bytes,
                      "a larger --min-count or a --max-size gives fewer episodes", now,
                      [&](const memory_guard&, invocation& guarded) { compare(options, guarded); });
}

}  // namespace

void declare_compare(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<compare_command>();
    sub.add_option("FILE", options->files,
                   "two files or folders of spikes, condition a first; or one, with "
                   "the epochs of both conditions; - is standard input")
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
        "          spikeweave compare --group-a wt1 wt2 wt3 wt4 --group-b ko1 ko2 ko3 ko4\n"
        "          spikeweave compare before.nwb after.nwb --patterns found -o change");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
