#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Features of spikes with known ground truth, without a recording: each unit has a bell-shaped
/// profile of amplitudes over neighbouring channels, in noise of standard deviation 1 on every
/// feature (nearly normal: a sum of 64 coins and a uniform number). One seed gives the same numbers
/// on every machine and any number of threads.
///
/// Spikes follow one another, each from a random unit; the intervals between them are not modelled.
struct feature_options {
    std::uint32_t spikes = 10000;
    std::uint32_t units = 30;
    std::uint32_t channels = 32;  ///< in a line
    std::uint32_t features_per_channel = 3;
    /// Range of a unit's largest first feature, drawn uniformly, in SDs of the noise.
    double low_height = 8;
    double high_height = 20;
    /// Standard deviation of the bell, in channels.
    double width = 1.2;
    /// Standard deviation of each spike's amplitude, as a fraction of the mean.
    double amplitude_jitter = 0.12;
    /// Minimum Euclidean distance of any two units, in SDs of the noise, for any amplitudes of
    /// their spikes: the distance of one from the line through the other and zero. 0: no minimum.
    double separation = 6;
    /// Fraction of spikes that belong to no unit, each with its own position and shape.
    double of_no_unit = 0.03;
    double spike_rate_hz = 100;  ///< rate of all spikes, at random times
    double rate_hz = 30000;      ///< sample rate
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(feature_options& options);

struct simulated_features {
    spike_features features{};
    /// In samples, ascending.
    std::vector<std::int64_t> samples{};
    double rate_hz = 0;
    /// The unit of each spike, from 1; 0 means none.
    std::vector<std::uint32_t> truth{};
};

/// Masks rise from 2 to 4.5 SDs of a channel's largest feature, and are 0 on channels not connected
/// with the largest one.
/// @throws invalid_argument if an option is out of range, or if the units do not fit at that
/// separation; cancelled.
SPIKEWEAVE_API simulated_features simulate_features(const feature_options& options = {},
                                                    const execution& run = {});

/// An `.npz` that `read_features` reads, with an additional array `truth`; see docs/formats.md.
/// @param overwrite  false: a file of that name, even one that appears meanwhile, is an error
/// @throws io_error
SPIKEWEAVE_API void write_simulated_features(const std::filesystem::path& path,
                                             const simulated_features& what, bool overwrite = true);

}  // namespace spikeweave
