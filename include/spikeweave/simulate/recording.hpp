#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The motion of the units along the probe. All move together.
enum class drift_shape : std::uint8_t {
    linear,  ///< up by the distance until the end
    zigzag,  ///< up by the distance and down again, periodically
    jump,    ///< up by the distance at once
};
template <>
SPIKEWEAVE_API enum_table<drift_shape> enum_names<drift_shape>();

/// The defaults of the options of a recording.
enum class recording_difficulty : std::uint8_t {
    easy,       ///< waveforms of one kind, noise that is white in time, and nothing else
    realistic,  ///< with the difficulties of sorting real recordings
};
template <>
SPIKEWEAVE_API enum_table<recording_difficulty> enum_names<recording_difficulty>();

/// The distribution from which the units' rates and amplitudes are drawn.
enum class unit_distribution : std::uint8_t {
    uniform,
    lognormal,  ///< two thirds within the range, and none more than sqrt(high / low) outside
};
template <>
SPIKEWEAVE_API enum_table<unit_distribution> enum_names<unit_distribution>();

enum class waveform_variety : std::uint8_t {
    alike,   ///< all are broad, and only their widths differ
    varied,  ///< of all kinds, which differ from channel to channel
};
template <>
SPIKEWEAVE_API enum_table<waveform_variety> enum_names<waveform_variety>();

enum class noise_spectrum : std::uint8_t {
    white,
    coloured,  ///< falls with frequency, above a part that is white and not shared by channels
};
template <>
SPIKEWEAVE_API enum_table<noise_spectrum> enum_names<noise_spectrum>();

/// Kinds of waveforms on the nearest contact.
enum class waveform_kind : std::uint8_t {
    broad,
    narrow,
    early_peak,  ///< a positive peak before the trough
    triphasic,   ///< a narrow trough between large peaks, as near an axon
    positive,    ///< upside down
};
template <>
SPIKEWEAVE_API enum_table<waveform_kind> enum_names<waveform_kind>();

/// A recording with known ground truth: units near the contacts of a probe, each with its own
/// waveform, which becomes smaller and later with distance; trains with a dead time; spatially
/// correlated and nearly normal noise (a sum of 64 coins). One seed gives the same bytes on every
/// machine and any number of threads. docs/algorithms/detection.md has the formulas.
struct recording_options {
    std::uint32_t channels = 32;
    std::uint32_t columns = 2;  ///< contacts side by side; rows go up from there
    double pitch_um = 20;       ///< between neighbours, in both directions
    double rate_hz = 30000;     ///< sample rate
    duration length = std::chrono::seconds{60};
    std::uint32_t units = 20;
    /// A file of spikes that `read_spikes` reads: the units are those of the file, with their times
    /// and names, and the recording lasts as long, in whole seconds, whatever `units`, `length` and
    /// the rates are. Its first sample is at the begin of the file's recorded span.
    std::filesystem::path spikes{};
    /// Range of the units' mean rates.
    double low_hz = 2;
    double high_hz = 12;
    duration refractory = std::chrono::milliseconds{4};
    /// Range of the units' trough on the nearest contact.
    double low_uv = 50;
    double high_uv = 250;
    /// Standard deviation of each spike's amplitude, as a fraction of the mean.
    double amplitude_jitter = 0.1;
    double noise_uv = 8;  ///< standard deviation on each channel
    /// Reach of the noise: channels further apart than twice this are independent. 0: all are.
    double noise_reach_um = 30;
    /// Distance that the units move up along the probe.
    double drift_um = 0;
    drift_shape drift = drift_shape::linear;
    /// Time of a zigzag's way up and down.
    duration drift_period = std::chrono::seconds{60};
    /// When the units begin to move. Not set: at once (linear), after a tenth of the recording
    /// (zigzag), in the middle (jump).
    std::optional<duration> drift_start{};
    double gain_uv = 0.195;  ///< per count
    std::uint64_t seed = 0;
    recording_difficulty difficulty = recording_difficulty::easy;
    /// The defaults of the following options depend on `difficulty`. Easy: uniform; realistic:
    /// lognormal.
    std::optional<unit_distribution> distribution{};
    std::optional<waveform_variety> waveforms{};  ///< alike; varied
    /// Fraction of the units that lie beside an earlier one and resemble it: 0; 0.3.
    std::optional<double> similar{};
    /// Fraction of the units that fire bursts, in which amplitudes fall: 0; 0.3.
    std::optional<double> bursting{};
    /// Small units per channel that are in no truth: 0; 2.
    std::optional<double> background{};
    std::optional<noise_spectrum> spectrum{};  ///< white; coloured
    /// The session of the same electrodes, from 1 on. In later ones some units are others, the rest
    /// have moved together and changed, and all fire other spikes.
    std::uint32_t session = 1;
    double turnover = 0.2;         ///< fraction of the units that are others in the next session
    double session_drift_um = 20;  ///< farthest that all units move from one session to the next
    double session_change = 0.1;   ///< how much their amplitudes change, as a fraction
};
SPIKEWEAVE_API option_list describe(recording_options& options);

struct simulated_unit {
    double x_um = 0;  ///< at the first sample
    double y_um = 0;
    double depth_um = 0;  ///< in front of the plane of the contacts
    double rate_hz = 0;
    double peak_uv = 0;         ///< of the trough on the nearest contact
    std::uint32_t channel = 0;  ///< that contact, or where varied waveforms are largest
    waveform_kind waveform = waveform_kind::broad;
    bool bursting = false;
    std::optional<std::uint32_t> like{};  ///< the earlier unit that it resembles
};

/// The displacement of all units above their first positions.
struct simulated_displacement {
    duration time{0};
    double um = 0;
};

/// The ground truth of a simulated recording. Times are those of the troughs on the nearest
/// contact; units are named 0, 1, …, and those that come in later sessions have further numbers, so
/// that a name is one neuron in all sessions of a seed.
struct recording_truth {
    spike_sequence spikes;
    std::vector<simulated_unit> units{};
    /// Between two of these times the displacement is linear; a jump has its time twice. Empty
    /// without drift.
    std::vector<simulated_displacement> motion{};
};

struct simulated_recording {
    recording traces;
    recording_truth truth;
};

/// Simulates in memory: 2 bytes per sample and channel.
/// @throws invalid_argument if an option is out of range; io_error if `spikes` cannot be read;
/// cancelled.
SPIKEWEAVE_API simulated_recording simulate_recording(const recording_options& options = {},
                                                      const execution& run = {});

/// Simulates a recording into a folder, in bounded memory: the one that `recording_writer` makes,
/// with `truth.npz` (which `read_spikes` reads) and `units.tsv` in it, and with drift `motion.tsv`.
/// @throws io_error if the folder exists and may not be replaced; else as above.
SPIKEWEAVE_API recording_truth simulate_recording(const std::filesystem::path& folder,
                                                  const recording_options& options,
                                                  bool overwrite = false,
                                                  const execution& run = {});

}  // namespace spikeweave
