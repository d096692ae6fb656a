#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/time.hpp"
#include "spikeweave/pipeline/compare.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::pipeline {

/// The recordings of both conditions, one after another on one axis of time.
struct compared_samples {
    /// With the units that all recordings have, and with the epochs of all samples.
    spike_sequence spikes{};
    /// The epochs of each sample: those of condition a, then those of b.
    std::vector<std::vector<time_span>> samples{};
    std::vector<duration> observed{};  ///< the time of each sample
    std::size_t samples_a = 0;
    sample_kind kind = sample_kind::blocks;
    /// The epochs that are searched by themselves, and the condition of each, if not all are
    /// searched together.
    std::vector<std::pair<std::size_t, std::vector<time_span>>> searches{};
    std::array<condition_summary, 2> conditions{};
    std::vector<std::string> warnings{};
};

/// @throws invalid_argument if a condition has no recording, or there are no common units.
compared_samples take_samples(const compared_recordings& of, duration block);

}  // namespace spikeweave::pipeline
