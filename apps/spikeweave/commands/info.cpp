#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/report/info.hpp"

namespace spikeweave::cli {
namespace {

struct info_command {
    std::string path{};
    spike_read_options reading{.labels = {"all"}};
    recording_read_options recording_reading{};
    bool json = false;
};

void show_recording(const info_command& options, invocation& call) {
    const recording what = read_recording(options.path, options.recording_reading, call.run());
    const std::vector<std::string> faults = check_recording(what, {}, call.run());
    call.print(options.json, to_json(what, faults),
               with_command_line_names(summarize(what, faults)));
}

void run(info_command& options, invocation& call) {
    if (options.reading.format == spike_format::automatic && !is_standard_input(options.path) &&
        is_recording(options.path, options.recording_reading, call.run()))
        return show_recording(options, call);
    refuse_recording_options(options.recording_reading, options.path);
    spike_file file = spike_source(options.path, call.stop).read(options.reading, call.run());
    call.stop_if_asked();
    std::ranges::move(check_spikes(file.spikes, file.are_clusters),
                      std::back_inserter(file.warnings));
    std::ranges::move(warnings_of(file.dropped), std::back_inserter(file.warnings));
    for (std::string& warning : file.warnings) warning = with_command_line_names(warning);
    call.print(options.json, to_json(file, options.path), summarize(file, options.path));
}

}  // namespace

void declare_info(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<info_command>();
    add_spike_file(sub, options->path, "file or folder of spikes or of a recording");
    add_described(sub, describe(options->reading));
    add_described(sub, describe(options->recording_reading));
    add_json(sub, options->json);
    sub.footer("Example: spikeweave info culture.spk.txt");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
