#include "spikeweave/report/assemblies.hpp"

#include <filesystem>
#include <utility>

#include "cli/described_options.hpp"
#include "cli/epoch_source.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave::cli {
namespace {

struct assemblies_command {
    spike_input_options input{};
    epoch_source_options epochs{};
    std::filesystem::path to{};
    bool overwrite = false;
    bool report = true;
    bool json = false;
    assembly_analysis_options analysis{};
};

option_list describe(assemblies_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: assemblies.tsv, activations.tsv, search.tsv, run.json and "
             "report.html")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
    list.add_all(describe(options.analysis));
    describe_epochs(list, options.epochs);
    return list;
}

void run(assemblies_command& options, invocation& now) {
    if (!options.to.empty())
        check_result_place(options.to, options.overwrite, result_kind::assemblies);
    const execution run = now.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, now, run);
    take_epochs(options.epochs, options.input.path, input, options.analysis.time.epochs, run);
    now.warn(input.record.warnings);
    assembly_result result = find_assemblies(input.spikes, options.analysis, run);
    now.warn(input.record, result.warnings);
    result.warnings = input.record.warnings;
    assembly_report report = report_of(std::move(input.spikes), std::move(result), run);
    record_input(report.run, std::move(input.record), now);
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "labels", "drop_duplicates_of_units",
                    "drop_synchronous", "synchrony_window", "max_rate", "min_snr", "groups",
                    "group_window", "only_units"});
    report.run.seconds = now.seconds();
    report.with_page = options.report;
    if (!options.to.empty()) write_assembly_report(options.to, report, options.overwrite, run);
    now.progress.clear();
    if (options.json)
        write_stdout(to_json(report));
    else if (!now.quiet)
        write_stdout(summarize(report));
}

}  // namespace

void declare_assemblies(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<assemblies_command>();
    add_spike_file(sub, options->input.path);
    add_described(sub, describe(*options));
    sub.footer("Example: spikeweave assemblies day.tsv --bins 5ms,50ms,500ms -o assemblies");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
