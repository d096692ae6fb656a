#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/parts.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/report/episodes.hpp"
#include "spikeweave/report/episodes/blocks.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

struct episodes_command : divided_command<episode_options> {
    bool occurrences = false;
    bool stream = false;
};

// A search block by block goes with its own options, and those of reading and writing.
void add_stream(option_list& list, bool& stream) {
    spike_read_options reading;
    episodes_in_blocks_options search;
    option_list usable = describe_for_blocks(reading);
    usable.add_all(describe(search));
    const auto is_usable = [&](const std::string& name) {
        return usable.has(name) || name == "output" || name == "overwrite" || name == "report";
    };
    std::vector<std::string> others;
    for (const option& one : list)
        if (!is_usable(one.name) && (one.needs.empty() || is_usable(one.needs)))
            others.push_back(one.name);
    list.begin_group("Search");
    list.add("stream", stream,
             "search a recording that does not fit into memory: FILE is an .npy array, text, or a "
             "folder of such files that continue each other in the order of their names, with "
             "spikes in time order. The counts are the same; episodes are not tested, and the "
             "result is episodes.tsv and run.json")
        .not_with(std::move(others));
}

option_list describe(episodes_command& options) {
    option_list list =
        describe_command(options,
                         "episodes.tsv, circuit.tsv, pairs.tsv, lags.tsv, circuit.graphml, "
                         "circuit.svg, run.json and report.html; with `confirm` also untested.tsv");
    add_occurrences(list, options.occurrences);
    list.begin_group(list.find("surrogates").group);
    add_part_option(list, options.parts);
    add_confirm(list, options.input.confirm);
    describe_epochs(list, options.input.epochs);
    add_epoch_labels(list, options.input.epochs);
    add_stream(list, options.stream);
    return list;
}

// The options that a part is made with.
option_list describe_part(episodes_command& options) {
    return describe(options);
}

std::vector<time_span>& epochs_of(episodes_command& options) {
    return options.analysis.time.epochs;
}

episode_result analyse(const episodes_command& options, const spike_input& input,
                       const std::optional<spike_input>& confirming, const execution& run) {
    if (confirming)
        return confirm_episodes(input.spikes, confirming->spikes, options.analysis, run);
    const auto all = merged_tally<surrogate_tally>(options.parts.merged, input.record.input);
    return all ? find_episodes(input.spikes, options.analysis, run, *all)
               : find_episodes(input.spikes, options.analysis, run);
}

// Reads the file once for each size of episodes and keeps a part of it in memory at a time.
void find_in_stream(episodes_command& options, const invocation& call, const execution& run) {
    if (is_standard_input(options.input.path))
        throw invalid_argument("--stream reads FILE several times: standard input must be a file");
    if (call.ranks)
        throw invalid_argument(
            "processes can only share the search of a recording in memory: "
            "leave the launcher (mpirun, srun) or --stream out");
    const auto recording = open_spike_blocks(options.input.path, options.input.reading, run);
    auto report = report_of(
        find_episodes_in_blocks(*recording, {options.analysis.mining, options.analysis.run}, run),
        run);
    call.warn(report.run.warnings);
    run_record input{.parameters = parameters_of(describe_for_blocks(options.input.reading)),
                     .input = describe_input(options.input.path, run),
                     .duplicates = report.run.duplicates};
    input.parameters.emplace_back("stream", true);
    finish_command(options.output, report, std::move(input), call, run,
                   [](const auto& shown) { return with_command_line_names(summarize(shown)); });
}

void find(episodes_command& options, const invocation& call) {
    episode_options& analysis = options.analysis;
    check_part(options.parts, analysis.surrogates, options.output, result_kind::episodes, call);
    const execution run = call.run(analysis.run.threads);
    if (options.stream) return find_in_stream(options, call, run);
    spike_input input = read_input(options.input, analysis.time.epochs, call, run);
    if (!options.parts.merged.empty())
        input.record.epoch_labels = options.parts.merged.front().run.epoch_labels;
    auto confirming = read_confirming(options.input, input.record, call, run);
    call.warn(input.record.warnings);
    call.warn(input.record, check_episodes(input.spikes, analysis));
    if (!options.parts.part.is_all())
        return write_part(options, "episodes", std::move(input.record),
                          count_part(input.spikes, analysis, options.parts.part, run), call, run);
    episode_result result = analyse(options, input, confirming, run);
    if (!call.is_root()) return;
    episode_report report = report_on(input, std::move(result), call, run);
    if (confirming) report.searched_input = exchange_inputs(input.record, *confirming);
    report.with_occurrences = options.occurrences;
    add_parameters(input.record.parameters, describe(options), {"confirm"});
    const auto text_of = [&](const episode_report& shown) {
        return with_names_between_styles(summarize(shown, shows_colour(STDOUT_FILENO))) +
               with_command_line_names(summarize_search(shown, analysis.mining.delays) +
                                       summarize_files(shown, options.output.to));
    };
    finish_command(options.output, report, std::move(input.record), call, run, text_of);
}

// The memory is watched, because what counting, tests and files take is not known before.
void run(episodes_command& options, invocation& call) {
    std::string advice = "a larger --min-count or a --max-size gives fewer episodes";
    if (!options.stream) advice += "; --stream searches a recording that does not fit into memory";
    run_within_memory(options.analysis.mining.max_memory_bytes, advice, call,
                      [&](const invocation& guarded) { find(options, guarded); });
}

}  // namespace

void merge_episodes(const std::vector<part_record>& parts, const merge_target& target,
                    invocation& call) {
    run_merged<episodes_command>(parts, target, call);
}

void declare_episodes(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<episodes_command>();
    add_spike_file(sub, options->input.path);
    declare_options(
        sub, chosen, options,
        "Examples: spikeweave episodes sym26.tsv --delays 4-6ms --min-count 200 -o chains\n"
        "          spikeweave episodes culture.spk.txt --surrogates 1000 --seed 1 -o culture");
    add_strategy_list(sub, &list_episode_strategies);
}

}  // namespace spikeweave::cli
