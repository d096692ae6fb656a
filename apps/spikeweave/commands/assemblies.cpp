#include "spikeweave/report/assemblies.hpp"

#include <utility>

#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct assemblies_command : spike_command<assembly_analysis_options> {};

option_list describe(assemblies_command& options) {
    option_list list = describe_command(
        options, "assemblies.tsv, activations.tsv, search.tsv, run.json and report.html");
    describe_epochs(list, options.input.epochs);
    return list;
}

void run(assemblies_command& options, invocation& call) {
    check_place(options.output, result_kind::assemblies, call);
    const execution run = call.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, options.analysis.time.epochs, call, run);
    call.warn(input.record.warnings);
    assembly_report report =
        report_on(input, find_assemblies(input.spikes, options.analysis, run), call, run);
    finish_command(options.output, report, std::move(input.record), call, run);
}

}  // namespace

void declare_assemblies(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<assemblies_command>();
    add_spike_file(sub, options->input.path);
    declare_options(sub, chosen, options,
                    "Example: spikeweave assemblies day.tsv --bins 5ms,50ms,500ms -o assemblies");
}

}  // namespace spikeweave::cli
