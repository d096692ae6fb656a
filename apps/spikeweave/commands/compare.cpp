#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/help_text.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/compare.hpp"

namespace spikeweave::cli {
namespace {

struct compare_command : spike_command<episode_comparison_options> {
    std::vector<std::string> files{};  ///< one recording with two sets of epochs, or two
    std::array<std::vector<std::string>, 2> groups{};
    std::array<epoch_source_options, 2> epochs{};
    std::vector<std::string> patterns{};       ///< results of SPADE; empty: episodes are compared
    pattern_comparison_options of_patterns{};  ///< their own; the others are those of `analysis`
};

// The options for patterns. Those that the comparison of episodes has, too, are taken from it; its
// others do not apply.
void describe_patterns(option_list& list, compare_command& options) {
    option_list own = describe(options.of_patterns);
    std::vector<std::string> of_episodes;
    for (const option& one : describe(options.analysis)) {
        const bool is_of_both = one.name == "max_memory" || one.name == "device";
        if (!is_of_both && !own.has(one.name)) of_episodes.push_back(one.name);
        own.remove(one.name);
    }
    list.begin_group("Patterns");
    list.add("patterns", options.patterns,
             "compare the patterns of this result of spade instead of episodes; only the "
             "significant ones if they were tested; may be given several times")
        .basic()
        .repeated()
        .written("RESULT")
        .not_with(std::move(of_episodes));
    for (const option& one : own) {
        own.change(one.name).group = "Patterns";
        own.change(one.name).only_with("patterns");
    }
    list.add_all(std::move(own));
}

option_list describe(compare_command& options) {
    option_list list = describe(options.input);
    describe_output(list, options.output,
                    "differences.tsv, run.json and report.html, and of episodes "
                    "differences.graphml");
    list.begin_group("Conditions");
    for (const std::size_t c : {0U, 1U}) {
        const std::string name(1, c == 0 ? 'a' : 'b');
        list.add("epochs_" + name, options.epochs[c].epochs,
                 fmt::format("the epochs of condition {} in FILE: a table of beginnings and ends "
                             "in seconds, or an NWB file with trials",
                             name))
            .basic()
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

/// The spikes of both conditions: recordings of each, or two sets of epochs of one recording.
struct conditions_read {
    compared_recordings spikes{};
    std::array<std::vector<input_record>, 2> inputs{};
    std::array<std::string, 2> names{};
    run_record run{};
};

void read_recordings(compare_command& options, const std::vector<std::string>& files,
                     std::size_t condition, conditions_read& into, const invocation& call,
                     const execution& run) {
    for (const std::string& file : files) {
        options.input.path = file;
        spike_input input = read_input(options.input, call, run);
        call.warn(into.run, input.record.warnings);
        into.run.duplicates += input.record.duplicates;
        into.inputs[condition].push_back(std::move(input.record.input));
        into.spikes.of[condition].push_back(std::move(input.spikes));
    }
}

conditions_read read_two_epochs(compare_command& options, const invocation& call,
                                const execution& run) {
    conditions_read out;
    options.input.path = options.files.front();
    spike_input input = read_input(options.input, call, run);
    out.inputs = {std::vector{input.record.input}, std::vector{input.record.input}};
    out.run.duplicates = input.record.duplicates;
    const auto source = [&](std::size_t c) {
        const epoch_source_options& one = options.epochs[c];
        return one.epochs.empty() ? std::filesystem::path(one.around) : one.epochs;
    };
    out.names = condition_names(source(0), source(1));
    std::vector<std::string>& warnings = input.record.warnings;
    std::array<std::vector<time_span>, 2> epochs;
    for (const std::size_t c : {0U, 1U}) {
        const std::size_t of_recording = warnings.size();
        take_epochs(options.epochs[c], options.input.path, input, epochs[c], run);
        for (std::size_t w = of_recording; w < warnings.size(); ++w)
            warnings[w] = fmt::format("Condition {}: {}", out.names[c], warnings[w]);
    }
    call.warn(out.run, warnings);
    out.spikes = conditions_of(input.spikes, epochs[0], epochs[1]);
    return out;
}

conditions_read read_conditions(compare_command& options, const invocation& call,
                                const execution& run) {
    std::array<std::vector<std::string>, 2> files = options.groups;
    const bool have_groups = !files[0].empty() || !files[1].empty();
    const auto& [a, b] = options.epochs;
    if (a.given() && b.given() && options.files.size() == 1 && !have_groups)
        return read_two_epochs(options, call, run);
    if (options.files.size() == 2 && !have_groups)
        files = {std::vector{options.files[0]}, std::vector{options.files[1]}};
    else if (!options.files.empty())
        files = {};
    if (a.given() || b.given() || files[0].empty() || files[1].empty())
        throw invalid_argument(
            "give two files; or --group-a and --group-b with the files of each; or one file with "
            "the epochs of a and of b (--epochs-a or --around-a, --epochs-b or --around-b)");
    if (std::ranges::count_if(files[0], is_standard_input) +
            std::ranges::count_if(files[1], is_standard_input) >
        1)
        throw invalid_argument("standard input (-) is given twice, and can be read once");
    conditions_read out;
    out.names = have_groups ? std::array<std::string, 2>{"a", "b"}
                            : condition_names(files[0].front(), files[1].front());
    for (const std::size_t c : {0U, 1U}) read_recordings(options, files[c], c, out, call, run);
    return out;
}

// The options for patterns, with those that the comparison of episodes has, too.
pattern_comparison_options pattern_options(compare_command& options) {
    const option_list own = describe(options.of_patterns);
    for (const option& shared : describe(options.analysis))
        if (own.has(shared.name)) own.find(shared.name).put(shared.get());
    return options.of_patterns;
}

named_patterns read_patterns(const std::vector<std::string>& folders) {
    std::vector<named_patterns> results;
    for (const std::string& folder : folders) results.push_back(read_named_patterns(folder));
    return joined_patterns(results);
}

// Compares both conditions, and writes and prints the result.
template <class Compare>
void deliver(compare_command& options, const invocation& call, result_kind kind, Compare compare) {
    check_place(options.output, kind, call);
    const execution run = call.run(options.analysis.run.threads);
    conditions_read read = read_conditions(options, call, run);
    auto report = report_of(compare(read.spikes, run), run);
    report.run.warnings = call.warn(read.run, report.result.warnings);
    report.inputs = std::move(read.inputs);
    report.names = std::move(read.names);
    read.run.parameters = parameters_of(describe(options.input));
    add_parameters(read.run.parameters, describe(options),
                   {"epochs_a", "epochs_b", "around_a", "around_b", "patterns"});
    finish_command(options.output, report, std::move(read.run), call, run);
}

void run(compare_command& options, invocation& call) {
    run_within_memory(options.analysis.mining.max_memory_bytes,
                      "a larger --min-count or a --max-size gives fewer episodes", call,
                      [&](const invocation& guarded) {
                          if (options.patterns.empty())
                              deliver(options, guarded, result_kind::episode_differences,
                                      [&](const compared_recordings& of, const execution& run) {
                                          return compare_episodes(of, options.analysis, run);
                                      });
                          else
                              deliver(options, guarded, result_kind::pattern_differences,
                                      [&](const compared_recordings& of, const execution& run) {
                                          return compare_patterns(of,
                                                                  read_patterns(options.patterns),
                                                                  pattern_options(options), run);
                                      });
                      });
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
        const CLI::Option* const group =
            sub.add_option("--group-" + name, options->groups[c],
                           "recordings of condition " + name + ", each one sample")
                ->type_name("FILE ...")
                ->group("Conditions");
        list_in_short_help(sub, group);
    }
    sub.footer(
        "Examples: spikeweave compare before.nwb after.nwb --delays 1-4ms -o change\n"
        "          spikeweave compare day.nwb --epochs-a rest.tsv --epochs-b run.tsv\n"
        "          spikeweave compare --group-a wt1 wt2 wt3 wt4 --group-b ko1 ko2 ko3 ko4\n"
        "          spikeweave compare before.nwb after.nwb --patterns found -o change");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
