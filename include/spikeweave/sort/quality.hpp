#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"

namespace spikeweave {

struct quality_options {
    /// Two spikes of one neuron are at least this far apart.
    duration refractory = std::chrono::microseconds{1500};
    /// A feature is used for a unit if the unit's spikes have at least this mean mask there.
    double least_mask = 0.5;
};

/// All but `least_mask`.
SPIKEWEAVE_API option_list describe(quality_options& options);

/// How well a unit is separated from all other spikes. Unknown values are empty; all others are
/// finite.
struct unit_quality {
    std::uint64_t spikes = 0;
    /// Number of features used for `l_ratio` and `isolation_distance`.
    std::uint32_t features = 0;
    /// Spikes per second. Empty without times.
    std::optional<double> rate_hz{};
    /// Sum over all other spikes, including noise, of the probability that a spike of the unit lies
    /// further out, divided by the unit's spikes; 0 is perfect. Empty unless the unit has more
    /// spikes than features and these are independent.
    std::optional<double> l_ratio{};
    /// Squared Mahalanobis distance at which there are as many other spikes as the unit has. Empty
    /// as for `l_ratio`, and if there are fewer other spikes than the unit has.
    std::optional<double> isolation_distance{};
    /// Fraction of intervals between successive spikes that are shorter than the refractory period.
    /// Empty without times, and below two spikes.
    std::optional<double> refractory_violations{};
    /// Fraction of its spikes that belong to other neurons, 0 to 1, estimated from the number of
    /// pairs within the refractory period, if these come from many neurons. Empty as for
    /// `refractory_violations`.
    std::optional<double> contamination{};
    /// Height of its mean waveform divided by the noise of that channel; recordings only.
    std::optional<double> snr{};

    friend bool operator==(const unit_quality&, const unit_quality&) = default;
};

/// One unit of a sorting.
struct sorted_unit {
    std::uint64_t spikes = 0;
    /// Mean number of unmasked features of its spikes.
    double unmasked = 0;
    /// The feature, from 0, with the largest sum of its spikes' masks.
    std::uint32_t peak_feature = 0;
    /// Filled in by the caller, see `measure_quality`.
    unit_quality quality{};
};

/// Unit u is at index u - 1. @throws invalid_argument if the labels do not match the spikes.
SPIKEWEAVE_API std::vector<sorted_unit> describe_units(const spike_features& features,
                                                       const sorting& sorted);

/// The features used for each unit, ascending: those where its spikes have a mean mask of at least
/// `least_mask`; if there are none, those with the largest mean. Unit u is at index u - 1. @throws
/// invalid_argument if the labels are not those of the spikes.
SPIKEWEAVE_API std::vector<std::vector<std::uint32_t>> counting_features(
    const spike_features& features, const sorting& sorted, double least_mask);

/// Unit u is at index u - 1; `snr` is left empty. Masks only decide which features are used: values
/// are used unchanged, including masked ones, which show the noise. Spikes of which none of a
/// unit's features is known are not compared with it. Units are measured in parallel, each in
/// O(spikes * features used^2), with 8 bytes per spike and thread. Ignores the devices of `run`.
/// @throws invalid_argument if the labels do not match the spikes, or unless the refractory
/// period is above 0 and `least_mask` in (0, 1]; cancelled.
///
/// Schmitzer-Torbert et al. 2005, doi:10.1016/j.neuroscience.2004.09.066 (L-ratio, isolation
/// distance); Llobet, Wyngaard, Barbour 2022, doi:10.1101/2022.02.08.479192 (contamination).
SPIKEWEAVE_API std::vector<unit_quality> measure_quality(const spike_features& features,
                                                         const sorting& sorted,
                                                         const quality_options& options = {},
                                                         const execution& run = {});

}  // namespace spikeweave
