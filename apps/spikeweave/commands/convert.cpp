#include <fmt/format.h>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"
#include "spikeweave/report/info.hpp"

namespace spikeweave::cli {
namespace {

struct convert_command {
    std::string from{};
    spike_read_options reading{.labels = {"all"}};
    std::string to{};
    bool overwrite = false;
    bool json = false;
};

// Labels of units go on with them into the formats that have a place for these.
void write(const convert_command& options, const spike_file& file, const execution& run) {
    const std::filesystem::path to = options.to;
    const std::filesystem::path ending = to.extension();
    const bool has_place = ending == ".npz" || ending == ".nwb" || ending == ".h5";
    if (file.labels.empty() || !has_place)
        return write_spikes(to, file.spikes, run, options.overwrite);
    write_units(to, file.spikes, std::vector<unit_column>{label_column(to, file.labels)}, run,
                options.overwrite);
}

void run(convert_command& options, invocation& call) {
    check_output_place(options.to, options.overwrite);
    spike_file file = spike_source(options.from, call.stop).read(options.reading, call.run());
    for (std::string& warning : file.warnings) warning = with_command_line_names(warning);
    call.stop_if_asked();
    // These are made before the file is written, so that no failure is reported after it.
    const std::string document = options.json ? to_json(file, options.from) : "";
    const std::string text =
        fmt::format("wrote {} spikes of {} units to {}\n{}", grouped(file.spikes.size()),
                    grouped(file.spikes.unit_count()), options.to, summarize_dropped(file));
    write(options, file, call.run());
    if (!options.json) call.warn(file.warnings);
    call.print(options.json, document, text);
}

}  // namespace

void declare_convert(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<convert_command>();
    add_spike_file(sub, options->from);
    add_described(sub, describe(options->reading));
    sub.add_option("OUT", options->to,
                   "file to write; the ending of its name selects the format: .tsv .txt .csv (also "
                   "with .gz), .npz, .nwb (NWB, also as .h5)")
        ->required()
        ->type_name("");
    sub.add_flag("--overwrite", options->overwrite, "replace OUT if it exists");
    sub.add_flag("--json", options->json, "print one JSON document, as info does for FILE");
    sub.footer("Example: spikeweave convert culture.spk.txt culture.nwb");
    choose(sub, chosen, options);
}

}  // namespace spikeweave::cli
