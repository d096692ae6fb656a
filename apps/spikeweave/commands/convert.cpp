#include <fmt/format.h>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "cli/spike_input.hpp"
#include "commands/commands.hpp"

namespace spikeweave::cli {
namespace {

struct convert_command {
    std::string from{};
    spike_read_options how{};
    std::string to{};
    bool overwrite = false;
};

std::string dropped(const spike_file& file) {
    std::string text;
    if (file.duplicates > 0)
        text += fmt::format("dropped {} exact duplicates\n", grouped(file.duplicates));
    for (const dropped_unit& unit : file.dropped)
        text += fmt::format("dropped unit {}: {} of its {} spikes repeat those of unit {}\n",
                            unit.name, grouped(unit.shared), grouped(unit.spikes), unit.repeated);
    if (!file.stimulus_us.empty())
        text += fmt::format("dropped {} stimulus markers, which are no unit\n",
                            grouped(file.stimulus_us.size()));
    if (file.out_of_order > 0)
        text +=
            fmt::format("sorted {} spikes that were out of order\n", grouped(file.out_of_order));
    return text;
}

void run(convert_command& options, session& now) {
    check_output_place(options.to, options.overwrite);
    const spike_file file = spike_source(options.from, now.stop).read(options.how, now.run());
    now.stop_if_asked();
    write_spikes(options.to, file.spikes, now.run());
    now.progress.clear();
    if (now.quiet) return;
    now.warn(file.warnings);
    write_stdout(fmt::format("wrote {} spikes of {} units to {}\n{}", grouped(file.spikes.size()),
                             grouped(file.spikes.unit_count()), options.to, dropped(file)));
}

}  // namespace

void add_convert(CLI::App& app, command& chosen) {
    const auto options = std::make_shared<convert_command>();
    CLI::App& sub = *app.add_subcommand("convert", "Write a recording's spikes in another format.");
    add_spike_file(sub, options->from);
    add_described(sub, describe(options->how));
    sub.add_option("OUT", options->to,
                   "file to write; its name says how: .tsv .txt .csv (also with .gz), .npz, .nwb")
        ->required()
        ->type_name("");
    sub.add_flag("--overwrite", options->overwrite, "replace OUT if it exists");
    sub.footer("Example: spikeweave convert culture.spk.txt culture.nwb");
    choose(sub, chosen, options, &run);
}

}  // namespace spikeweave::cli
