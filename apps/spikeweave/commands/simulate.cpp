#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/described_options.hpp"
#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/pipeline/run_options.hpp"
#include "spikeweave/simulate/features.hpp"
#include "spikeweave/simulate/network.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "spikeweave/simulate/spikes.hpp"

namespace spikeweave::cli {
namespace {

namespace fs = std::filesystem;

/// The help of a model besides its options.
struct model_help {
    const char* name;
    const char* about;
    const char* output;
    const char* replaced;  ///< by --overwrite; empty: OUT
    const char* example;
};

/// One model with its options, and where its result goes.
template <class Options>
struct simulate_command : place_options {
    Options model{};
    run_options threads{};
    std::function<void(simulate_command&, const invocation&)> write{};
};

template <class Options>
void run(simulate_command<Options>& options, invocation& call) {
    options.write(options, call);
}

template <class Options>
option_list describe(simulate_command<Options>& options, const model_help& help) {
    option_list list;
    list.begin_group("Output");
    describe_place(list, options, help.output, "OUT", help.replaced);
    add_json(list, options.json);
    list.add_all(describe(options.model));
    list.add_all(describe_threads(options.threads));
    return list;
}

template <class Made, class Options>
void write_spikes_of(Made (*simulate)(const Options&, const execution&), const char* planted,
                     const simulate_command<Options>& options, const invocation& call) {
    const execution run = call.run(options.threads.threads);
    const fs::path truth = truth_path(options.to);
    check_output_place(options.to, options.overwrite);
    check_output_place(truth, options.overwrite);
    const Made simulated = simulate(options.model, run);
    call.stop_if_asked();
    write_simulation(options.to, simulated, run, options.overwrite);
    call.print(options.json,
               json_document({{"output", options.to.string()},
                              {"spikes", std::uint64_t{simulated.spikes.size()}},
                              {"units", std::uint64_t{simulated.spikes.unit_count()}},
                              {"truth", truth.string()},
                              {"planted", std::uint64_t{simulated.truth.size()}}}),
               fmt::format("wrote {} spikes of {} units to {}\nwrote {} {} to {}\n",
                           grouped(simulated.spikes.size()), grouped(simulated.spikes.unit_count()),
                           options.to.string(), simulated.truth.size(), planted, truth.string()));
}

void write_recording(const simulate_command<recording_options>& options, const invocation& call) {
    constexpr std::array<std::string_view, 7> of_spikes{".tsv", ".txt", ".csv", ".gz",
                                                        ".npz", ".nwb", ".h5"};
    if (const std::string ending = options.to.extension().string();
        std::ranges::find(of_spikes, ending) != of_spikes.end())
        throw invalid_argument(
            fmt::format("'{}' is named as a file, and a recording is written as a folder: give a "
                        "name without {}",
                        options.to.string(), ending));
    check_result_place(options.to, options.overwrite, result_kind::recording);
    const recording_truth truth = simulate_recording(options.to, options.model, options.overwrite,
                                                     call.run(options.threads.threads));
    const duration length = truth.spikes.span().end;
    const std::string truth_file = (options.to / "truth.npz").string();
    call.print(
        options.json,
        json_document({{"output", options.to.string()},
                       {"channels", std::uint64_t{options.model.channels}},
                       {"length_s", to_seconds(length)},
                       {"spikes", std::uint64_t{truth.spikes.size()}},
                       {"units", std::uint64_t{truth.spikes.unit_count()}},
                       {"truth", truth_file}}),
        fmt::format("wrote {} of {} channels to {}\nwrote {} spikes of {} units to {}\n",
                    format_duration(length), grouped(options.model.channels), options.to.string(),
                    grouped(truth.spikes.size()), grouped(truth.spikes.unit_count()), truth_file));
}

void write_features(const simulate_command<feature_options>& options, const invocation& call) {
    check_output_place(options.to, options.overwrite);
    const simulated_features simulated =
        simulate_features(options.model, call.run(options.threads.threads));
    call.stop_if_asked();
    write_simulated_features(options.to, simulated, options.overwrite);
    call.print(options.json,
               json_document({{"output", options.to.string()},
                              {"spikes", std::uint64_t{simulated.features.size()}},
                              {"units", std::uint64_t{options.model.units}},
                              {"features", std::uint64_t{simulated.features.feature_count()}}}),
               fmt::format("wrote {} spikes of {} units, {} features each, to {}\n",
                           grouped(simulated.features.size()), grouped(options.model.units),
                           grouped(simulated.features.feature_count()), options.to.string()));
}

template <class Options>
void add_model(CLI::App& parent, command& chosen, const model_help& help,
               decltype(simulate_command<Options>::write) write) {
    const auto options = std::make_shared<simulate_command<Options>>();
    options->write = std::move(write);
    CLI::App& sub = *parent.add_subcommand(help.name, help.about);
    add_described(sub, describe(*options, help));
    sub.footer(std::string("Example: spikeweave simulate ") + help.example);
    choose(sub, chosen, options);
}

template <class Made, class Options>
void add_spike_model(CLI::App& parent, command& chosen, const char* name, const char* about,
                     const char* example, Made (*simulate)(const Options&, const execution&),
                     const char* planted = "planted connections") {
    add_model<Options>(
        parent, chosen,
        {name, about,
         "file of spikes to write (.tsv .txt .csv, also with .gz; .npz; .nwb, also as .h5); the "
         "truth is "
         "written beside it, as NAME.truth.tsv",
         "OUT and its truth if they exist", example},
        [simulate, planted](simulate_command<Options>& options, const invocation& call) {
            write_spikes_of(simulate, planted, options, call);
        });
}

}  // namespace

void declare_simulate(CLI::App& sub, command& chosen) {
    sub.require_subcommand(1);
    add_spike_model(sub, chosen, "sym26",
                    "Poisson units that excite each other, with two planted chains.",
                    "sym26 --seed 1 -o sym26.tsv", &simulate_sym26);
    add_spike_model(sub, chosen, "culture",
                    "A dissociated culture: quiet channels and bursts in which all fire.",
                    "culture --length 10min -o culture.npz", &simulate_culture);
    add_spike_model(sub, chosen, "poisson", "Independent Poisson units: data without any pattern.",
                    "poisson --units 100 --rate 5 -o null.tsv.gz", &simulate_poisson);
    add_spike_model(sub, chosen, "patterns",
                    "Independent units with spike patterns planted among them, for SPADE.",
                    "patterns --units 50 --rate 8 --patterns 5,3 --seed 1 -o hidden.tsv",
                    &simulate_patterns, "planted patterns");
    add_spike_model(sub, chosen, "network",
                    "Some neurons of a network of integrate-and-fire neurons with known synapses.",
                    "network --length 10min --seed 1 -o network.tsv", &simulate_network,
                    "synapses");
    add_model<recording_options>(
        sub, chosen,
        {"recording",
         "The voltages that units produce around a probe, and the times of their spikes.",
         "folder to write, which SpikeInterface's read_binary_folder opens; the truth is its "
         "truth.npz and units.tsv, with drift also motion.tsv",
         "OUT if it is such a folder", "recording --units 10 --length 10s --seed 1 -o rec"},
        &write_recording);
    add_model<feature_options>(
        sub, chosen,
        {"features", "Features and masks of spikes whose units are known.",
         "the .npz to write, which spikeweave sort reads; the truth is its array 'truth'", "",
         "features --spikes 50000 --units 60 -o features.npz"},
        &write_features);
    sub.footer("Example: spikeweave simulate sym26 --seed 1 -o sym26.tsv");
}

}  // namespace spikeweave::cli
