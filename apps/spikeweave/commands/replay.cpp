#include "spikeweave/report/replay.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/epoch_source.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/units_left_out.hpp"

namespace spikeweave::cli {
namespace {

struct replay_command {
    std::filesystem::path chains{};
    spike_input_options input{};
    epoch_source_options epochs{};
    std::filesystem::path events{};
    std::filesystem::path to{};
    bool overwrite = false;
    bool report = true;
    bool json = false;
    replay_analysis_options analysis{};
};

option_list describe(replay_command& options) {
    option_list list = describe(options.input);
    list.begin_group("Output");
    list.add("output", options.to,
             "folder to write: replay.tsv, events.tsv, run.json and report.html")
        .written("OUT_DIR");
    list.add("overwrite", options.overwrite, "replace OUT_DIR if it exists").only_with("output");
    add_page_option(list, options.report);
    list.add("json", options.json, "print one JSON document");
    list.add_all(describe(options.analysis));
    describe_epochs(list, options.epochs);
    option& events = list.change("events");
    events.bind(options.events);
    events.help += "; EVENTS is a table of beginnings and ends in seconds";
    return list;
}

void run(replay_command& options, invocation& now) {
    if (!options.to.empty()) check_result_place(options.to, options.overwrite, result_kind::replay);
    const execution run = now.run(options.analysis.run.threads);
    spike_input input = read_input(options.input, now, run);
    if (!input.left_out.empty())
        check_not_left_out(input.left_out, units_of_episodes(options.chains));
    take_epochs(options.epochs, options.input.path, input, options.analysis.time.epochs, run);
    now.warn(input.record.warnings);
    std::vector<episode> chains = read_episodes(options.chains, input.spikes);
    std::vector<std::string> about_events;
    if (!options.events.empty())
        options.analysis.events = read_epochs(options.events, run, &about_events);
    now.warn(input.record, about_events);
    replay_result result = find_replay(input.spikes, chains, options.analysis, run);
    now.warn(input.record, result.warnings);
    result.warnings = input.record.warnings;
    replay_report report =
        report_of(std::move(input.spikes), std::move(chains), std::move(result), run);
    record_input(report.run, std::move(input.record), now);
    report.run.parameters.emplace_back("chains", options.chains.string());
    add_parameters(report.run.parameters, describe(options),
                   {"format", "time_unit", "allow_negative", "labels", "drop_duplicates_of_units",
                    "drop_synchronous", "synchrony_window", "max_rate", "min_snr", "groups",
                    "group_window", "only_units"});
    report.run.seconds = now.seconds();
    report.with_page = options.report;
    if (!options.to.empty()) write_replay_report(options.to, report, options.overwrite, run);
    now.progress.clear();
    if (options.json)
        write_stdout(to_json(report));
    else if (!now.quiet)
        write_stdout(summarize(report));
}

}  // namespace

void declare_replay(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<replay_command>();
    sub.add_option("CHAINS", options->chains,
                   "a folder that episodes wrote with --output, or a file with an episode on each "
                   "line, such as n0 40-60ms n1 40-60ms n2")
        ->required()
        ->type_name("")
        ->group("Input");
    add_spike_file(sub, options->input.path);
    add_described(sub, describe(*options));
    sub.footer("Example: spikeweave replay run-chains day.tsv --epochs sleep.tsv -o replay");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
