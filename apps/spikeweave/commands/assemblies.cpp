#include "spikeweave/report/assemblies.hpp"

#include <utility>

#include "cli/described_options.hpp"
#include "cli/result_output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct assemblies_command {
    spike_input_options input{};
    epoch_source_options epochs{};
    output_options output{};
    assembly_analysis_options analysis{};
};

option_list describe(assemblies_command& options) {
    option_list list = describe(options.input);
    describe_output(list, options.output,
                    "assemblies.tsv, activations.tsv, search.tsv, run.json and report.html");
    list.add_all(describe(options.analysis));
    describe_epochs(list, options.epochs);
    return list;
}

void run(assemblies_command& options, invocation& now) {
    check_place(options.output, result_kind::assemblies, now);
    const execution run = now.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, now, run);
    take_epochs(options.epochs, options.input.path, input, options.analysis.time.epochs, run);
    now.warn(input.record.warnings);
    assembly_result result = find_assemblies(input.spikes, options.analysis, run);
    result.warnings = now.warn(input.record, result.warnings);
    assembly_report report = report_of(std::move(input.spikes), std::move(result), run);
    finish_command(options.output, report, std::move(input.record), now, run,
                   &write_assembly_report);
}

}  // namespace

void declare_assemblies(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<assemblies_command>();
    add_spike_file(sub, options->input.path);
    declare_options(sub, chosen, options,
                    "Example: spikeweave assemblies day.tsv --bins 5ms,50ms,500ms -o assemblies");
}

}  // namespace spikeweave::cli
