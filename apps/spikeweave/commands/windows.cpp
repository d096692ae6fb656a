#include "spikeweave/report/episodes/windows.hpp"

#include <utility>

#include "cli/described_options.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/report/strategies.hpp"

namespace spikeweave::cli {
namespace {

struct windows_command : spike_command<windowed_episode_options> {};

option_list describe(windows_command& options) {
    return describe_command(options,
                            "windows.tsv, window_episodes.tsv, window_circuits.tsv, run.json and "
                            "report.html; with `change_points` also change_points.tsv");
}

void find(windows_command& options, const invocation& call) {
    check_place(options.output, result_kind::episodes, call);
    const execution run = call.run(options.analysis.search.run.threads);
    spike_input input = read_input(options.input, call, run);
    call.warn(input.record.warnings);
    call.warn(input.record, check_episodes(input.spikes, options.analysis.search));
    auto report =
        report_on(input, find_episodes_in_windows(input.spikes, options.analysis, run), call, run);
    finish_command(options.output, report, std::move(input.record), call, run);
}

void run(windows_command& options, invocation& call) {
    run_within_memory(options.analysis.search.mining.max_memory_bytes,
                      "a larger --min-count or a --max-size gives fewer episodes", call,
                      [&](const invocation& guarded) { find(options, guarded); });
}

}  // namespace

void declare_windows(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<windows_command>();
    add_spike_file(sub, options->input.path);
    declare_options(
        sub, chosen, options,
        "Examples: spikeweave windows culture.spk.txt --window 10s --hop 5s -o windows\n"
        "          spikeweave windows culture.spk.txt --window 60s --change-points -o changes");
    add_strategy_list(sub, &list_episode_strategies);
}

}  // namespace spikeweave::cli
