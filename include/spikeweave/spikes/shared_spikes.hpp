#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Units that repeat the spikes of another, because a sorter counted one neuron as two
/// (docs/algorithms/shared-spikes.md).
namespace spikeweave {

struct shared_spike_options {
    /// Two spikes are the same one if they are no further apart.
    duration window{300};
    /// Up to this distance the cross-correlogram shows the number of coincidences by chance and by
    /// synchrony.
    duration flank{5'000};
    /// The shortest interval that contains half of the lags of a repeated unit is no longer.
    duration max_spread{150};
    /// A repeated unit has at least this share of its spikes from the other, beyond those that
    /// coincide by chance.
    double min_share = 0.5;
    /// Fewer coincidences are not conclusive.
    std::size_t min_spikes = 20;
};

/// Two units such that most spikes of one are within the window of a spike of the other.
struct shared_spike_pair {
    unit_id fewer{};  ///< the unit with fewer spikes; of as many, the later one
    unit_id more{};
    duration window{0};  ///< that of the options
    std::size_t fewer_spikes = 0;
    std::size_t more_spikes = 0;
    /// Number of spikes of `fewer` that have one of `more` within the window. Moments at which many
    /// units fire together do not count: they are artefacts or network bursts.
    std::size_t shared = 0;
    /// Number of spikes of `fewer` expected by chance and synchrony, from the flanks.
    double by_chance = 0;
    /// Estimated share of the spikes of `fewer` that are repeated ones of `more`.
    double share = 0;
    duration lag{0};     ///< median time from a spike of `fewer` to the nearest one of `more`
    duration spread{0};  ///< length of the shortest interval that holds half of these lags
    /// Whether `fewer` repeats `more`: a share that is large enough, at a lag that is constant
    /// enough. A pair that is synchronous for another reason does not.
    bool repeats = false;

    friend bool operator==(const shared_spike_pair&, const shared_spike_pair&) = default;
};

/// All pairs with enough coincident spikes, those that repeat each other and those that do not; the
/// largest share is first. None if the clock is coarser than the window. Takes time proportional to
/// the numbers of spikes and of coincidences.
/// @throws invalid_argument unless 0 < `window` < `flank` and `min_share` is above 0.
SPIKEWEAVE_API std::vector<shared_spike_pair> find_shared_spikes(
    const spike_sequence& spikes, const shared_spike_options& options = {},
    const execution& run = {.threads = 1});

/// A unit that was left out.
struct dropped_unit {
    std::string name{};
    std::size_t spikes = 0;
    std::string repeated{};  ///< the unit of which it repeats most
    std::size_t shared = 0;  ///< so many spikes
    duration window{0};      ///< within this time

    friend bool operator==(const dropped_unit&, const dropped_unit&) = default;
};

struct units_without_duplicates {
    spike_sequence spikes{};
    std::vector<dropped_unit> dropped{};  ///< in the order of the units
};

/// Leaves out the unit with fewer spikes of each pair that repeats. If units repeat each other in
/// turn, the one with the most spikes is kept.
SPIKEWEAVE_API units_without_duplicates
drop_duplicates_of_units(const spike_sequence& spikes, std::span<const shared_spike_pair> pairs);

/// Warnings that name the units that repeat others, as full sentences.
SPIKEWEAVE_API std::vector<std::string> warnings_of(const spike_sequence& spikes,
                                                    std::span<const shared_spike_pair> pairs);
/// Warnings about the units that were left out, as full sentences.
SPIKEWEAVE_API std::vector<std::string> warnings_of(std::span<const dropped_unit> dropped);

}  // namespace spikeweave
