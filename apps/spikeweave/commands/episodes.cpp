#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/confirming.hpp"
#include "cli/described_options.hpp"
#include "cli/epoch_source.hpp"
#include "cli/output.hpp"
#include "cli/parts.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/report/episodes.hpp"
#include "spikeweave/report/episodes/blocks.hpp"
#include "spikeweave/report/episodes/windows.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

/// The options of the analysis, and those of the command itself.
struct episodes_command {
    spike_input_options input{};
    std::filesystem::path count_only{};  ///< a file of episodes; empty: search
    std::filesystem::path confirm{};     ///< the recording that tests; empty: the one searched
    epoch_source_options epochs{};
    std::filesystem::path to{};  ///< empty: the result is only printed
    bool overwrite = false;
    bool occurrences = false;
    bool report = true;
    bool json = false;
    bool stream = false;
    part_options parts{};
    windowed_episode_options analysis{};
};

void add_stream(option_list& list, episodes_command& options) {
    list.add("stream", options.stream,
             "search a recording that does not fit into memory: FILE is an .npy array, text, or a "
             "folder of such files that continue each other in the order of their names, with "
             "spikes in time order. The counts are the same; episodes are not tested, and the "
             "result is episodes.tsv and run.json")
        .not_with({"labels",
                   "drop_duplicates_of_units",
                   "drop_synchronous",
                   "max_rate",
                   "min_snr",
                   "groups",
                   "only_units",
                   "occurrences",
                   "json",
                   "t_start",
                   "t_stop",
                   "epochs",
                   "around",
                   "trial_length",
                   "count_only",
                   "window",
                   "part",
                   "alpha",
                   "correction",
                   "test",
                   "jitter_window",
                   "surrogates",
                   "hold_out",
                   "confirm",
                   "split",
                   "compaction"});
}

option_list describe(episodes_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: episodes.tsv, circuit.tsv, pairs.tsv, lags.tsv, circuit.graphml, "
             "circuit.svg, run.json and report.html; with `confirm` also untested.tsv")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    list.add("occurrences", options.occurrences,
             "also write occurrences.tsv: the times at which the chains and direct edges occur")
        .only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
    list.add_all(describe(options.analysis));
    list.begin_group(list.find("surrogates").group);
    add_part_option(list, options.parts);
    add_confirm(list, options.confirm);
    list.begin_group("Search");
    list.add("count_only", options.count_only,
             "do not search, but count the episodes in this file, one on each line, such as n0 "
             "4-6ms n1 4-6ms n2")
        .written("EPISODES")
        .not_with({"delays", "delay_grid", "min_count", "min_fraction", "min_rate", "max_size",
                   "self_repeats", "pairs", "window", "part", "hold_out", "confirm"});
    add_stream(list, options);
    list.change("window").not_with(
        {"occurrences", "part", "epochs", "around", "trial_length", "hold_out", "confirm"});
    list.change("part").not_with({"hold_out", "confirm"});
    describe_epochs(list, options.epochs);
    return list;
}

// The options that a part is made with, in which the epochs themselves stand, not where they are.
option_list describe_part(episodes_command& options) {
    option_list list = describe(options);
    list.remove("around");
    list.change("epochs").bind(options.analysis.search.time.epochs);
    return list;
}

// The names of options in a text with styles of ours, which messages do not have.
std::string named_between_styles(std::string_view styled) {
    std::string out;
    while (!styled.empty()) {
        const std::size_t begin = std::min(styled.find('\x1b'), styled.size());
        out += with_command_line_names(styled.substr(0, begin));
        styled.remove_prefix(begin);
        const std::size_t end = styled.find('m');
        const std::size_t style = end == std::string_view::npos ? styled.size() : end + 1;
        out += styled.substr(0, style);
        styled.remove_prefix(style);
    }
    return out;
}

void print(const episodes_command& options, const episode_report& report) {
    const bool is_search = options.count_only.empty();
    const auto& delays = options.analysis.search.mining.delays;
    std::string text = with_command_line_names(
        summarize_search(report, is_search ? std::span(delays) : std::span(delays).first(0)));
    text += is_search ? named_between_styles(summarize(report, shows_colour(STDOUT_FILENO)))
                      : summarize_counts(report);
    if (!options.to.empty()) text += with_command_line_names(summarize_files(report, options.to));
    write_stdout(text);
}

// What is the same for a result of the whole recording and one of windows.
template <class Report>
void finish(episodes_command& options, Report& report, run_record& input, invocation& now,
            const execution& run) {
    report.with_page = options.report;
    record_input(report.run, std::move(input), now);
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "labels", "drop_duplicates_of_units",
                    "drop_synchronous", "synchrony_window", "max_rate", "min_snr", "groups",
                    "group_window", "only_units", "count_only", "confirm"});
    report.run.seconds = now.seconds();
    if (!options.to.empty()) write_episode_report(options.to, report, options.overwrite, run);
    now.progress.clear();
}

void find_in_windows(episodes_command& options, spike_input& input, invocation& now,
                     const execution& run) {
    auto result = find_episodes_in_windows(input.spikes, options.analysis, run);
    now.warn(input.record, result.warnings);
    result.warnings = input.record.warnings;
    auto report = report_of(std::move(input.spikes), std::move(result), run);
    finish(options, report, input.record, now, run);
    if (options.json)
        write_stdout(to_json(report));
    else if (!now.quiet)
        write_stdout(summarize(report));
}

// Counts in a part of the surrogates.
void divide(episodes_command& options, spike_input& input, const invocation& now,
            const execution& run) {
    const episode_options& analysis = options.analysis.search;
    part_record record{.verb = "episodes", .part = options.parts.part};
    record.tally = count_part(input.spikes, analysis, record.part, run).to_bytes();
    record.run.seed = analysis.surrogates.seed;
    write_part(options.to, options.overwrite, std::move(record), std::move(input.record),
               describe_part(options), now, run);
}

episode_result analyse(const episodes_command& options, const spike_input& input,
                       const std::optional<spike_input>& confirming, const execution& run) {
    const spike_sequence& spikes = input.spikes;
    const episode_options& how = options.analysis.search;
    if (confirming) return confirm_episodes(spikes, confirming->spikes, how, run);
    if (!options.count_only.empty())
        return count_and_test_episodes(spikes, read_episodes(options.count_only, spikes), how, run);
    const auto all = merged_tally<surrogate_tally>(options.parts.merged, input.record.input);
    return all ? find_episodes(spikes, how, run, *all) : find_episodes(spikes, how, run);
}

void check_place(const episodes_command& options, const invocation& now) {
    const result_kind kind =
        options.parts.part.is_all() ? result_kind::episodes : result_kind::part;
    if (!options.to.empty() && now.is_root())
        check_result_place(options.to, options.overwrite, kind);
    check_part(options.parts, options.analysis.search.surrogates, options.to);
    if (now.ranks && (options.stream || options.analysis.window > duration{0}))
        throw invalid_argument(
            "processes can only share the search of a whole recording in memory: leave the "
            "launcher (mpirun, srun), --window or --stream out");
}

// Reads the file once for each size of episodes and keeps a part of it in memory at a time.
void find_in_stream(episodes_command& options, invocation& now) {
    const episode_options& analysis = options.analysis.search;
    if (is_standard_input(options.input.path))
        throw invalid_argument("--stream reads FILE several times: standard input must be a file");
    const execution run = now.run(analysis.run.threads);
    const auto recording = open_spike_blocks(options.input.path, options.input.how, run);
    auto report = report_of(find_episodes_in_blocks(*recording, analysis, run), run);
    report.run.command = now.command_line;
    report.run.input = describe_input(options.input.path, run);
    now.warn(report.run.warnings);
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "stream"});
    report.run.seconds = now.seconds();
    if (!options.to.empty()) write_episode_report(options.to, report, options.overwrite, run);
    now.progress.clear();
    if (!now.quiet) write_stdout(with_command_line_names(summarize(report)));
}

void find(episodes_command& options, const memory_guard& memory, invocation& now) {
    check_place(options, now);
    if (options.stream) return find_in_stream(options, now);
    episode_options& analysis = options.analysis.search;
    const execution run = now.run(analysis.run.threads);
    spike_input input = read_input(options.input, now, run);
    take_epochs(options.epochs, options.input.path, input, analysis.time.epochs, run);
    std::optional<spike_input> confirming =
        read_confirming(options.confirm, options.input, options.epochs, input.record, now, run);
    now.warn(input.record.warnings);
    now.warn(input.record, check_episodes(input.spikes, analysis));
    if (options.analysis.window > duration{0}) return find_in_windows(options, input, now, run);
    if (!options.parts.part.is_all()) return divide(options, input, now, run);

    episode_result result = analyse(options, input, confirming, run);
    if (!now.is_root()) return;
    now.warn(input.record, result.warnings);
    result.warnings = input.record.warnings;
    episode_report report = report_of(std::move(input.spikes), std::move(result), run);
    if (confirming) report.searched_input = exchange_inputs(input.record, *confirming);
    report.with_occurrences = options.occurrences;
    add_parameters(
        report.run.parameters, describe(options),
        {"window", "hop", "change_points", "change_permutations", "change_alpha", "change_seed"});
    finish(options, report, input.record, now, run);
    if (options.json) {
        memory.expect(json_bytes(report));
        write_stdout(to_json(report) + "\n");
    } else if (!now.quiet) {
        print(options, report);
    }
}

// The memory is watched, because what counting, tests and files take is not known before.
void run(episodes_command& options, invocation& now) {
    std::string advice = "a larger --min-count or a --max-size gives fewer episodes";
    if (!options.stream) advice += "; --stream searches a recording that does not fit into memory";
    run_within_memory(
        options.analysis.search.mining.max_memory_bytes, advice, now,
        [&](const memory_guard& memory, invocation& guarded) { find(options, memory, guarded); });
}

}  // namespace

void merge_episodes(const std::vector<part_record>& parts, const merge_target& target,
                    invocation& now) {
    episodes_command options{.input = {.path = target.input},
                             .to = target.to,
                             .overwrite = target.overwrite,
                             .json = target.json,
                             .parts = {.merged = parts}};
    take_parameters(parts, describe_part(options));
    run(options, now);
}

void declare_episodes(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<episodes_command>();
    add_spike_file(sub, options->input.path);
    add_described(sub, describe(*options));
    add_strategy_list(sub, &list_episode_strategies);
    sub.footer(
        "Examples: spikeweave episodes sym26.tsv --delays 4-6ms --min-count 200 -o chains\n"
        "          spikeweave episodes culture.spk.txt --surrogates 1000 --seed 1 -o culture");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
