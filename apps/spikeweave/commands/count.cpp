#include <filesystem>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/episodes.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

struct count_command : spike_command<given_episode_options> {
    std::filesystem::path episodes{};
    bool occurrences = false;
    std::uint64_t max_memory_bytes = 0;
};

option_list describe(count_command& options) {
    option_list list =
        describe_command(options,
                         "episodes.tsv, circuit.tsv, lags.tsv, circuit.graphml, circuit.svg, "
                         "run.json and report.html");
    add_occurrences(list, options.occurrences);
    describe_epochs(list, options.input.epochs);
    add_epoch_labels(list, options.input.epochs);
    add_max_memory(list, options.max_memory_bytes);
    return list;
}

void count(count_command& options, const invocation& call) {
    check_place(options.output, result_kind::episodes, call);
    const execution run = call.run(options.analysis.counting.run.threads);
    spike_input input = read_input(options.input, options.analysis.time.epochs, call, run);
    const std::vector<episode> given = read_given(options.episodes, input);
    call.warn(input.record.warnings);
    episode_result result = count_and_test_episodes(input.spikes, given, options.analysis, run);
    if (!call.is_root()) return;
    given_episode_options used = options_for_given(result.options);
    episode_report report = report_on(input, std::move(result), call, run);
    report.with_occurrences = options.occurrences;
    report.run.parameters = parameters_of(describe(used));
    add_parameters(input.record.parameters, describe(options), {"max_memory"});
    input.record.parameters.emplace_back("episodes", options.episodes.string());
    const auto text_of = [&](const episode_report& shown) {
        return summarize_counts(shown) +
               with_command_line_names(summarize_search(shown, {}) +
                                       summarize_files(shown, options.output.to));
    };
    finish_command(options.output, report, std::move(input.record), call, run, text_of);
}

void run(count_command& options, invocation& call) {
    run_within_memory(options.max_memory_bytes, "fewer episodes need less", call,
                      [&](const invocation& guarded) { count(options, guarded); });
}

}  // namespace

void declare_count(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<count_command>();
    add_spike_file(sub, options->input.path);
    add_argument(sub, "EPISODES", options->episodes,
                 "a file with an episode on each line, such as n0 4-6ms n1 4-6ms n2; or a folder "
                 "that episodes wrote with --output");
    declare_options(sub, chosen, options,
                    "Examples: spikeweave count sym26.tsv known.txt\n"
                    "          spikeweave count tuesday.nwb monday-circuit -o tuesday-counts");
    add_strategy_list(sub, &list_episode_strategies);
}

}  // namespace spikeweave::cli
