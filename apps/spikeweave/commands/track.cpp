#include "spikeweave/report/track.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/result_output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/pipeline/run_options.hpp"

namespace spikeweave::cli {
namespace {

struct track_command {
    std::vector<std::filesystem::path> folders{};
    std::vector<std::string> labels{};
    tracking_options tracking{};
    output_options output{};
    run_options threads{};
};

option_list describe(track_command& options) {
    option_list list;
    list.begin_group("Options");
    describe_output(list, options.output,
                    "neurons.tsv, matches.tsv, relations.tsv, sessions.tsv, spikes/K.npz (the "
                    "spikes of session K, whose units are named by neuron), run.json and "
                    "report.html");
    list.begin_group("Options");
    list.add("labels", options.labels,
             "use only units with these labels, such as good,mua; all uses every unit")
        .by_default("good, if units are labelled good or mua; else all but noise")
        .written("LABEL,...");
    list.add_all(describe(options.tracking));
    list.add_all(describe_threads(options.threads));
    return list;
}

void run(track_command& options, invocation& call) {
    check_place(options.output, result_kind::tracking, call);
    const execution run = call.run(options.threads.threads);
    std::vector<session_spikes> sessions;
    for (const std::filesystem::path& folder : options.folders)
        sessions.push_back(read_session(folder, options.labels, run));
    tracking_report report = track_sessions(std::move(sessions), options.tracking, run);
    call.warn(report.run.warnings);
    run_record read;
    add_parameters(read.parameters, describe(options), {"labels"});
    finish_command(options.output, report, std::move(read), call, run);
}

}  // namespace

void declare_track(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<track_command>();
    add_argument(sub, "FOLDER", options->folders,
                 "folders that sort wrote for recordings of the same electrodes, in the order of "
                 "time");
    declare_options(sub, chosen, options,
                    "Example: spikeweave track monday tuesday friday -o week");
}

}  // namespace spikeweave::cli
