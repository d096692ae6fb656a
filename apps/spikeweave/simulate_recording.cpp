#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "cli.hpp"
#include "output.hpp"
#include "spikeweave/spikeweave.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

struct simulate_recording_options {
    recording_options what{};
    std::string to{};
    int threads = 0;
    bool overwrite = false;
};

void simulate(const simulate_recording_options& options, session& now) {
    check_output_place(options.to, options.overwrite);
    const recording_truth truth =
        simulate_recording(options.to, options.what, options.overwrite, now.run(options.threads));
    now.progress.clear();
    if (now.quiet) return;
    write_stdout(fmt::format("wrote {} of {} channels to {}\nwrote {} spikes of {} units to {}\n",
                             format_duration(options.what.length), grouped(options.what.channels),
                             options.to, grouped(truth.spikes.size()),
                             grouped(truth.spikes.unit_count()),
                             (std::filesystem::path(options.to) / "truth.npz").string()));
}

void add_probe(CLI::App& sub, recording_options& what) {
    add_value(sub, "--channels", what.channels, parse_count, fmt::format("[{}]", what.channels))
        ->type_name("N");
    add_value(sub, "--columns", what.columns, parse_count,
              fmt::format("contacts side by side [{}]", what.columns))
        ->type_name("N");
    add_value(sub, "--pitch", what.pitch_um, parse_positive,
              fmt::format("between neighbouring contacts [{:g} um]", what.pitch_um))
        ->type_name("UM");
    add_value(sub, "--sample-rate", what.rate_hz, parse_positive,
              fmt::format("samples a second [{:g}]", what.rate_hz))
        ->type_name("HZ");
    add_value(sub, "--gain", what.gain_uv, parse_positive,
              fmt::format("microvolts per ADC count [{:g}]", what.gain_uv))
        ->type_name("UV");
}

void add_units(CLI::App& sub, recording_options& what) {
    add_value(sub, "--units", what.units, parse_count, fmt::format("[{}]", what.units))
        ->type_name("N");
    add_value(sub, "--low-rate", what.low_hz, parse_positive,
              fmt::format("of the unit that fires least, about [{:g} Hz]", what.low_hz))
        ->type_name("HZ");
    add_value(sub, "--high-rate", what.high_hz, parse_positive,
              fmt::format("of the unit that fires most, about [{:g} Hz]", what.high_hz))
        ->type_name("HZ");
    add_value(sub, "--dead-time", what.refractory, parse_duration,
              "between two spikes of a unit [" + format_duration(what.refractory) + "]")
        ->type_name("TIME");
    add_value(sub, "--low-peak", what.low_uv, parse_positive,
              fmt::format("of the smallest unit, about [{:g} uV]", what.low_uv))
        ->type_name("UV");
    add_value(sub, "--high-peak", what.high_uv, parse_positive,
              fmt::format("of the largest unit, about [{:g} uV]", what.high_uv))
        ->type_name("UV");
    add_value(sub, "--jitter", what.amplitude_jitter, parse_share,
              fmt::format("standard deviation of a unit's spikes in size, as a part of it [{:g}]",
                          what.amplitude_jitter))
        ->type_name("P");
    add_value(sub, "--drift", what.drift_um, parse_not_negative,
              "how far the units move along the probe, evenly, from begin to end [0 um]")
        ->type_name("UM");
}

}  // namespace

void add_simulate_recording(CLI::App& parent, verb& chosen) {
    CLI::App& sub = *parent.add_subcommand(
        "recording", "Voltages of units around a probe, and when each of them fired.");
    const auto options = std::make_shared<simulate_recording_options>();
    recording_options& what = options->what;
    sub.add_option("-o,--output", options->to,
                   "folder to write, which SpikeInterface's read_binary_folder opens; the truth is "
                   "its truth.npz and units.tsv")
        ->required()
        ->type_name("OUT");
    add_value(sub, "--length", what.length, parse_positive_duration,
              "length of the recording [" + format_duration(what.length) + "]")
        ->type_name("TIME");
    add_probe(sub, what);
    add_units(sub, what);
    add_value(sub, "--noise", what.noise_uv, parse_not_negative,
              fmt::format("standard deviation on each channel [{:g} uV]", what.noise_uv))
        ->type_name("UV");
    add_value(
        sub, "--noise-reach", what.noise_reach_um, parse_not_negative,
        fmt::format("channels up to twice this apart share noise [{:g} um]", what.noise_reach_um))
        ->type_name("UM");
    add_value(
        sub, "--seed", what.seed, [](const std::string& text) { return parse_whole(text); },
        "one seed gives one result on every machine [0]")
        ->type_name("N");
    add_value(sub, "--threads", options->threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    sub.add_flag("--overwrite", options->overwrite, "replace OUT if it is such a folder");
    sub.footer("Example: spikeweave simulate recording --units 10 --length 10s --seed 1 -o rec");
    sub.callback(
        [options, &chosen] { chosen = [options](session& now) { simulate(*options, now); }; });
}

}  // namespace spikeweave::cli
