#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

/// Features of spikes with known truth, without a recording around them: each unit has a bell of
/// amplitudes over neighbouring channels, in noise of standard deviation 1 on every feature (nearly
/// normal: a sum of 64 coins and a uniform number). One seed gives the same numbers on every
/// machine and any number of threads.
///
/// Spikes come one after another, each of any unit: what the intervals between them are like is
/// not modelled.
struct feature_options {
    std::uint32_t spikes = 10000;
    std::uint32_t units = 30;
    std::uint32_t channels = 32;  ///< in a line
    std::uint32_t features_per_channel = 3;
    /// A unit's first feature where it is largest, in SDs of the noise, uniform between these.
    double low_height = 8;
    double high_height = 20;
    /// Standard deviation of the bell, in channels.
    double width = 1.2;
    /// Standard deviation of each spike's size, as a part of it.
    double amplitude_jitter = 0.12;
    /// Euclidean distance of any two units at least, in SDs of the noise, whatever the sizes of
    /// their spikes: how far one is from the line through the other and zero. 0: any.
    double separation = 6;
    /// Share of spikes that are of no unit, each with a place and shape of its own.
    double of_no_unit = 0.03;
    double spike_rate_hz = 100;  ///< all spikes, at random
    double rate_hz = 30000;      ///< samples a second
    std::uint64_t seed = 0;
};

struct simulated_features {
    spike_features features{};
    /// In samples, ascending.
    std::vector<std::int64_t> samples{};
    double rate_hz = 0;
    /// Of each spike its unit from 1; 0 is of none.
    std::vector<std::uint32_t> truth{};
};

/// Masks rise from 2 to 4.5 SDs of a channel's largest feature, and are 0 beyond the channels that
/// hang together with the largest one.
/// @throws invalid_argument for what cannot be, also when so many units find no room at that
/// separation; cancelled.
simulated_features simulate_features(const feature_options& options = {},
                                     const execution& run = {});

/// An `.npz` that `read_features` reads, with the array `truth` beside; docs/formats.md has it.
/// @throws io_error
void write_simulated_features(const std::filesystem::path& path, const simulated_features& what);

}  // namespace spikeweave
