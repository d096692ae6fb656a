#pragma once

#include <array>
#include <cstdint>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// The purpose of a random stream. It is part of the key, so that two uses of one seed never share
/// numbers.
enum class random_purpose : std::uint32_t {
    sym26_weights = 1,
    sym26_spikes = 2,
    culture_bursts = 3,
    culture_spikes = 4,
    poisson_spikes = 5,
    interval_jitter = 6,
    spike_dithering = 7,
    pattern_background = 8,
    pattern_rates = 9,
    pattern_times = 10,
    dither_spikes = 16,
    dither_spikes_with_refractory_period = 17,
    dither_spike_train = 18,
    jitter_spikes = 19,
    randomise_spikes = 20,
    shuffle_isis = 21,
    joint_isi_dithering = 22,
    isi_dithering = 23,
    trial_shifting = 24,
    bin_shuffling = 25,
    pattern_subsets = 32,
    hybrid_calibration = 40,
    cluster_splits = 48,
    recording_units = 56,
    recording_spikes = 57,
    recording_sizes = 58,
    recording_noise = 59,
    feature_units = 60,
    feature_spikes = 61,
    feature_times = 62,
    recording_shapes = 63,
    recording_likeness = 64,
    recording_bursts = 65,
    recording_coloured_noise = 66,
    recording_sessions = 67,
    label_permutation = 72,
    replay_spikes = 73,
    replay_identities = 74,
    network_noise = 80,
    network_synapses = 81,
    network_units = 82,
    network_drives = 83,
    network_bursts = 84,
};

/// A counter-based generator (Philox4x32-10: Salmon et al. 2011, SC'11,
/// doi:10.1145/2063384.2063405).
///
/// The stream is a pure function of (seed, purpose, index, sub_index), so a result does not depend
/// on which thread, rank or device draws it. It uses only integer arithmetic and exactly
/// rounded floating-point operations, so it is the same on every machine.
class SPIKEWEAVE_API random_stream {
public:
    random_stream(std::uint64_t seed, random_purpose purpose, std::uint32_t index,
                  std::uint32_t sub_index = 0);

    std::uint32_t next_u32();
    std::uint64_t next_u64();
    /// Draws a uniform number in [0, 1), a multiple of 2^-53.
    double uniform();
    /// Draws a uniform integer in [0, bound), bound > 0, without bias (Lemire 2019,
    /// doi:10.1145/3230636).
    std::uint64_t below(std::uint64_t bound);
    /// Draws from the exponential distribution with mean 1 by von Neumann's comparison method
    /// (1951). It uses no logarithm, so results do not depend on the version of libm.
    double exponential();

private:
    void refill();

    std::array<std::uint32_t, 2> key_;
    std::array<std::uint32_t, 4> counter_;
    std::array<std::uint32_t, 4> block_{};
    unsigned used_ = 4;
};

}  // namespace spikeweave
