#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli.hpp"
#include "output.hpp"
#include "spikeweave/spikeweave.hpp"
#include "values.hpp"

namespace spikeweave::cli {
namespace {

struct simulate_features_options {
    feature_options what{};
    std::string to{};
    int threads = 0;
    bool overwrite = false;
};

void simulate(const simulate_features_options& options, session& now) {
    check_output_place(options.to, options.overwrite);
    const simulated_features made = simulate_features(options.what, now.run(options.threads));
    now.stop_if_asked();
    write_simulated_features(options.to, made);
    now.progress.clear();
    if (now.quiet) return;
    write_stdout(fmt::format("wrote {} spikes of {} units, {} features each, to {}\n",
                             grouped(made.features.size()), grouped(options.what.units),
                             grouped(made.features.feature_count()), options.to));
}

void add_units(CLI::App& sub, feature_options& what) {
    const auto add_count = [&](const char* name, std::uint32_t& into, const std::string& help) {
        add_value(sub, name, into, parse_count, fmt::format("{}[{}]", help, into))->type_name("N");
    };
    add_count("--spikes", what.spikes, "");
    add_count("--units", what.units, "");
    add_count("--channels", what.channels, "in a line ");
    add_count("--features-per-channel", what.features_per_channel, "");
    const auto add = [&](const char* name, double& into, auto parse, const char* type,
                         const char* help) {
        add_value(sub, name, into, parse, fmt::format("{} [{:g}]", help, into))->type_name(type);
    };
    add("--low-height", what.low_height, parse_positive, "X",
        "of the smallest unit, about, in standard deviations of the noise");
    add("--high-height", what.high_height, parse_positive, "X", "of the largest unit, about");
    add("--width", what.width, parse_positive, "X", "of units, in channels");
    add("--jitter", what.amplitude_jitter, parse_share, "P",
        "standard deviation of a unit's spikes in size, as a part of it");
    add("--separation", what.separation, parse_not_negative, "X",
        "between any two units at least, in standard deviations of the noise");
    add("--of-no-unit", what.of_no_unit, parse_share, "P", "share of spikes that are of no unit");
    add("--spike-rate", what.spike_rate_hz, parse_positive, "HZ", "of all spikes together");
    add("--sample-rate", what.rate_hz, parse_positive, "HZ", "samples a second");
}

}  // namespace

void add_simulate_features(CLI::App& parent, verb& chosen) {
    CLI::App& sub =
        *parent.add_subcommand("features", "Features and masks of spikes whose units are known.");
    const auto options = std::make_shared<simulate_features_options>();
    sub.add_option("-o,--output", options->to,
                   "the .npz to write, which spikeweave sort reads; the truth is its array 'truth'")
        ->required()
        ->type_name("OUT");
    add_units(sub, options->what);
    add_value(
        sub, "--seed", options->what.seed,
        [](const std::string& text) { return parse_whole(text); },
        "one seed gives one result on every machine [0]")
        ->type_name("N");
    add_value(sub, "--threads", options->threads, parse_threads, "worker threads [all cores]")
        ->type_name("N");
    sub.add_flag("--overwrite", options->overwrite, "replace OUT if it exists");
    sub.footer("Example: spikeweave simulate features --spikes 50000 --units 60 -o features.npz");
    sub.callback(
        [options, &chosen] { chosen = [options](session& now) { simulate(*options, now); }; });
}

}  // namespace spikeweave::cli
