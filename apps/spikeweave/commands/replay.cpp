#include "spikeweave/report/replay.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::cli {
namespace {

struct replay_command : spike_command<replay_analysis_options> {
    std::filesystem::path chains{};
    std::filesystem::path events{};
};

option_list describe(replay_command& options) {
    option_list list =
        describe_command(options, "replay.tsv, events.tsv, run.json and report.html");
    describe_epochs(list, options.input.epochs);
    option& events = list.change("events");
    events.bind(options.events);
    events.help += "; EVENTS is a table of beginnings and ends in seconds";
    return list;
}

void run(replay_command& options, invocation& call) {
    check_place(options.output, result_kind::replay, call);
    const execution run = call.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, options.analysis.time.epochs, call, run);
    std::vector<episode> chains = read_given(options.chains, input);
    call.warn(input.record.warnings);
    std::vector<std::string> about_events;
    if (!options.events.empty())
        options.analysis.events = read_epochs(options.events, run, &about_events);
    call.warn(input.record, about_events);
    replay_result result = find_replay(input.spikes, chains, options.analysis, run);
    result.warnings = call.warn(input.record, result.warnings);
    replay_report report =
        report_of(std::move(input.spikes), std::move(chains), std::move(result), run);
    input.record.parameters.emplace_back("chains", options.chains.string());
    finish_command(options.output, report, std::move(input.record), call, run);
}

}  // namespace

void declare_replay(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<replay_command>();
    add_argument(sub, "CHAINS", options->chains,
                 "a folder that episodes wrote with --output, or a file with an episode on each "
                 "line, such as n0 40-60ms n1 40-60ms n2");
    add_spike_file(sub, options->input.path);
    declare_options(sub, chosen, options,
                    "Example: spikeweave replay run-chains day.tsv --epochs sleep.tsv -o replay");
}

}  // namespace spikeweave::cli
