#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct quality_options {
    /// Two spikes of one neuron are at least this far apart.
    duration refractory = std::chrono::microseconds{1500};
    /// A feature counts for a unit whose spikes have at least this mask there on average.
    double least_mask = 0.5;
};

/// How far a unit stands apart from all else that was recorded. What cannot be said is empty; what
/// is there is finite.
struct unit_quality {
    std::uint64_t spikes = 0;
    /// Features that count for it; `l_ratio` and `isolation_distance` are of these.
    std::uint32_t features = 0;
    /// Spikes a second. Empty without times.
    std::optional<double> rate_hz{};
    /// Sum over all other spikes, noise too, of the chance that one of the unit lies further out,
    /// divided by the unit's spikes; 0 is perfect. Empty unless the unit has more spikes than
    /// features and these are independent.
    std::optional<double> l_ratio{};
    /// Squared Mahalanobis distance at which there are as many other spikes as the unit has. Empty
    /// as `l_ratio`, and where there are fewer other spikes than of the unit.
    std::optional<double> isolation_distance{};
    /// Share of the intervals from one spike to the next that are shorter than the refractory
    /// period. Empty without times, and below two spikes.
    std::optional<double> refractory_violations{};
    /// Share of its spikes that are not the neuron's, 0 to 1, if these come from many others: from
    /// the number of pairs within the refractory period. Empty as `refractory_violations`.
    std::optional<double> contamination{};
    /// Height of its mean waveform over the noise of that channel; of recordings only.
    std::optional<double> snr{};

    friend bool operator==(const unit_quality&, const unit_quality&) = default;
};

/// The features, ascending, that count for each unit: those where the masks of its spikes are at
/// least `least_mask` on average, and where there is none those with the largest average.
/// Unit u at u - 1. @throws invalid_argument if the labels are not those of the spikes.
std::vector<std::vector<std::uint32_t>> counting_features(const spike_features& features,
                                                          const sorting& sorted, double least_mask);

/// Unit u at u - 1; `snr` is left empty. Masks decide which features count, and nothing else: the
/// values are taken as they are, of masked features, too, which show the noise. Units run side by
/// side, O(spikes * features that count^2) each; 8 bytes a spike for each thread. Does not
/// look at the devices of `run`.
/// @throws invalid_argument if the labels are not those of the spikes, or unless the refractory
/// period is above 0 and `least_mask` in (0, 1]; cancelled.
///
/// Schmitzer-Torbert et al. 2005, doi:10.1016/j.neuroscience.2004.09.066 (L-ratio, isolation
/// distance); Llobet, Wyngaard, Barbour 2022, doi:10.1101/2022.02.08.479192 (contamination).
std::vector<unit_quality> measure_quality(const spike_features& features, const sorting& sorted,
                                          const quality_options& options = {},
                                          const execution& run = {});

}  // namespace spikeweave
