#include "spikeweave/simulate/recording.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "io/atomic_file.hpp"
#include "parallel/ordered_for.hpp"
#include "simulate/recording_model.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {

using simulate::recording_model;

namespace {

constexpr auto task = "simulating";

// Columns that are the same for every unit in easy recordings are left out there.
void write_units(const std::filesystem::path& path, const recording_truth& truth,
                 const recording_options& options) {
    const simulate::recording_realism realism = simulate::realism_of(options);
    const bool varies = realism.waveforms == waveform_variety::varied || realism.similar > 0 ||
                        realism.bursting > 0;
    io::atomic_file file(path);
    file.write("unit\tchannel\tx_um\ty_um\tdepth_um\trate_hz\tpeak_uv\tpeak_by_noise");
    file.write(varies ? "\twaveform\tbursting\tlike\n" : "\n");
    for (std::size_t u = 0; u < truth.units.size(); ++u) {
        const simulated_unit& what = truth.units[u];
        const std::string by_noise =
            options.noise_uv > 0 ? fmt::format("{:.2f}", what.peak_uv / options.noise_uv) : "-";
        file.write(fmt::format("{}\t{}\t{:.2f}\t{:.2f}\t{:.2f}\t{:.3f}\t{:.2f}\t{}",
                               truth.spikes.unit_names()[u], what.channel, what.x_um, what.y_um,
                               what.depth_um, what.rate_hz, what.peak_uv, by_noise));
        if (varies)
            file.write(fmt::format("\t{}\t{}\t{}", to_string(what.waveform),
                                   what.bursting ? "yes" : "no",
                                   what.like ? truth.spikes.unit_names()[*what.like] : "-"));
        file.write("\n");
    }
    file.commit();
}

void write_motion(const std::filesystem::path& path, const recording_truth& truth) {
    io::atomic_file file(path);
    file.write("time_s\tdisplacement_um\n");
    for (const simulated_displacement& one : truth.motion)
        file.write(fmt::format("{:.6f}\t{:.6f}\n", to_seconds(one.time), one.um));
    file.commit();
}

}  // namespace

simulated_recording simulate_recording(const recording_options& options, const execution& run) {
    recording_model model(options, run);
    std::vector<std::int16_t> samples;
    samples.reserve(model.frame_count() * options.channels);
    parallel::for_each_in_order(
        model.block_count(), run, task, [&](std::size_t i) { return model.block(i); },
        [&](std::size_t, const std::vector<std::int16_t>& block) {
            samples.insert(samples.end(), block.begin(), block.end());
        });
    return {recording(model.description(), std::move(samples)), model.take_truth()};
}

recording_truth simulate_recording(const std::filesystem::path& folder,
                                   const recording_options& options, bool overwrite,
                                   const execution& run) {
    recording_model model(options, run);
    recording_writer writer(folder, model.description(), overwrite,
                            {"truth.npz", "units.tsv", "motion.tsv"});
    parallel::for_each_in_order(
        model.block_count(), run, task, [&](std::size_t i) { return model.block(i); },
        [&](std::size_t, const std::vector<std::int16_t>& block) { writer.append(block); });
    write_spikes(writer.file("truth.npz"), model.truth().spikes, run);
    write_units(writer.file("units.tsv"), model.truth(), options);
    if (!model.truth().motion.empty()) write_motion(writer.file("motion.tsv"), model.truth());
    writer.commit(run);
    return model.take_truth();
}

}  // namespace spikeweave
