#include "spikeweave/report/bursts.hpp"

#include <utility>

#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct bursts_command : spike_command<burst_analysis_options> {};

option_list describe(bursts_command& options) {
    option_list list = describe_command(
        options,
        "summary.tsv, units.tsv, network_bursts.tsv, bursts.tsv, run.json and report.html");
    describe_epochs(list, options.input.epochs);
    return list;
}

void run(bursts_command& options, invocation& call) {
    check_place(options.output, result_kind::bursts, call);
    const execution run = call.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, options.analysis.time.epochs, call, run);
    call.warn(input.record.warnings);
    burst_report report =
        report_on(input, find_bursts(input.spikes, options.analysis, run), call, run);
    finish_command(options.output, report, std::move(input.record), call, run);
}

}  // namespace

void declare_bursts(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<bursts_command>();
    add_spike_file(sub, options->input.path);
    declare_options(sub, chosen, options, "Example: spikeweave bursts culture.h5 -o bursts");
}

}  // namespace spikeweave::cli
