#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// A recording with known truth: units near the contacts of a probe, each with its own waveform,
/// which fades with the distance and arrives later there; trains with a dead time; spatially
/// correlated noise, white in time and nearly normal (a sum of 64 coins). One seed gives the same
/// bytes on every machine and any number of threads. docs/algorithms/detection.md has the formulas.
struct recording_options {
    std::uint32_t channels = 32;
    std::uint32_t columns = 2;  ///< contacts side by side; rows go up from there
    double pitch_um = 20;       ///< between neighbours, both ways
    double rate_hz = 30000;     ///< samples a second
    duration length = std::chrono::seconds{60};
    std::uint32_t units = 20;
    /// Each unit's own mean rate, uniform between these.
    double low_hz = 2;
    double high_hz = 12;
    duration refractory = std::chrono::milliseconds{4};
    /// Each unit's trough on its nearest contact, uniform between these.
    double low_uv = 50;
    double high_uv = 250;
    /// Standard deviation of each spike's size, as a part of it.
    double amplitude_jitter = 0.1;
    double noise_uv = 8;  ///< standard deviation on each channel
    /// How far noise reaches: channels further apart than twice this are independent. 0: all are.
    double noise_reach_um = 30;
    /// How far the units move up along the probe, evenly, from the first sample to the last.
    double drift_um = 0;
    double gain_uv = 0.195;  ///< of a count
    std::uint64_t seed = 0;
};

struct simulated_unit {
    double x_um = 0;  ///< at the first sample
    double y_um = 0;
    double depth_um = 0;  ///< in front of the plane of the contacts
    double rate_hz = 0;
    double peak_uv = 0;         ///< of the trough on the nearest contact
    std::uint32_t channel = 0;  ///< that contact
};

/// What was put into a simulated recording. Times are those of the troughs on the nearest contact;
/// units are named 0, 1, …
struct recording_truth {
    spike_sequence spikes;
    std::vector<simulated_unit> units{};
};

struct simulated_recording {
    recording traces;
    recording_truth truth;
};

/// In memory: 2 bytes a sample and channel.
/// @throws invalid_argument for what cannot be; cancelled.
simulated_recording simulate_recording(const recording_options& options = {},
                                       const execution& run = {});

/// The same in a folder, in bounded memory: what `recording_writer` makes, with `truth.npz` (which
/// `read_spikes` reads) and `units.tsv` in it.
/// @throws io_error when the folder exists, unless it may be replaced; then as above.
recording_truth simulate_recording(const std::filesystem::path& folder,
                                   const recording_options& options, bool overwrite = false,
                                   const execution& run = {});

}  // namespace spikeweave
