#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/record/recording.hpp"

/// Units of several sorted recordings that are one neuron (docs/algorithms/tracking.md; the
/// approach of van Beest et al. 2025, Nature Methods 22:778: probabilities from pairs of mean
/// waveforms whose relation is known).
namespace spikeweave {

/// What is known of a sorted unit, by which it can be found in another session.
struct unit_footprint {
    std::string name{};
    std::uint64_t spikes = 0;
    /// Channels of the waveforms, as numbers within the session.
    std::vector<std::uint32_t> channels{};
    /// Mean waveform, frames x channels, in microvolts.
    std::vector<float> mean{};
    /// The same in each half of the session; empty if unknown.
    std::array<std::vector<float>, 2> halves{};
    /// `autocorrelogram_of` its spikes; empty: there are too few.
    std::vector<double> autocorrelogram{};
};

/// The units of one recording.
struct sorted_session {
    std::string name{};
    std::vector<recording_channel> channels{};
    std::size_t frames = 0;  ///< of a waveform
    std::size_t before = 0;  ///< those before the peak
    double rate_hz = 0;      ///< samples per second
    std::vector<unit_footprint> units{};
};

/// The shares of the lags between spikes of one unit that are in each of 24 bins, equally wide on a
/// logarithmic scale from 1 to 300 ms. Empty if there are fewer than 100 lags.
SPIKEWEAVE_API std::vector<double> autocorrelogram_of(std::span<const std::int64_t> times_us);

struct tracking_options {
    /// Two units are one neuron if the probability is at least this.
    double min_probability = 0.5;
};
SPIKEWEAVE_API option_list describe(tracking_options& options);

/// How a unit of one session resembles one of another.
struct unit_match {
    std::uint32_t session = 0;  ///< the earlier one
    std::uint32_t unit = 0;     ///< its number within that, from 0
    std::uint32_t other_session = 0;
    std::uint32_t other_unit = 0;
    double probability = 0;  ///< that they are one neuron
    /// Correlation of the mean waveforms over all channels, after motion was undone.
    double similarity = 0;
    double distance_um = 0;      ///< of their places, after motion was undone
    double amplitude_ratio = 0;  ///< of the second one's waveform to the first one's
    /// Overlap of the autocorrelograms, from 0 to 1; none if one of them is unknown.
    std::optional<double> autocorrelogram_overlap{};
    bool is_accepted = false;  ///< whether both are units of one neuron in the result
};

/// Two sessions.
struct session_relation {
    std::uint32_t session = 0;
    std::uint32_t other_session = 0;
    double moved_um = 0;  ///< how far the tissue has moved up along the probe in between
    std::uint64_t accepted = 0;
    double expected_false = 0;  ///< sum of 1 - probability of these
};

/// The units of one session, found again in its own other half: the truth is known.
struct split_half_check {
    std::uint64_t units = 0;  ///< with ten spikes or more in each half
    std::uint64_t missed = 0;
    std::uint64_t wrong = 0;  ///< taken for another unit
};

/// One neuron.
struct tracked_unit {
    /// Its unit in each session.
    std::vector<std::optional<std::uint32_t>> in_session{};
    /// The least probability of a match between two of its sessions; 1 if it is in one only.
    double probability = 1;
};

struct tracking {
    /// Ascending by the sessions, then the units; those of a probability below 0.01 are left out.
    std::vector<unit_match> matches{};
    std::vector<session_relation> relations{};
    std::vector<split_half_check> checks{};  ///< one for each session
    /// Ascending by their first session, then its unit.
    std::vector<tracked_unit> units{};
};

/// Finds the units that are one neuron in several sessions of the same electrodes.
/// @throws invalid_argument for fewer than two sessions, other contacts, sample rates or waveforms
/// in one of them, or an option that is out of range; cancelled.
SPIKEWEAVE_API tracking track_units(std::span<const sorted_session> sessions,
                                    const tracking_options& options = {},
                                    const execution& run = {});

}  // namespace spikeweave
