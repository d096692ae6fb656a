#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// When exactly the spikes of one unit follow those of another, from their cross-correlogram
/// (docs/algorithms/significance.md, "Delays of edges").
namespace spikeweave {

/// Pairs of spikes that are no further apart are synchronous.
constexpr duration longest_synchrony{500};
/// Most of the spikes that a chemical synapse causes are later. English et al. (2017, Neuron
/// 96:505-520) search for them from 0.8 ms on.
constexpr duration shortest_synaptic_delay{1000};

/// The mean lag of the pairs of spikes in excess of those expected by chance.
struct delay_estimate {
    double mean_us;
    /// The 95 % confidence interval. It assumes that pairs are independent.
    double low_us;
    double high_us;
};

/// Whether the correlogram still rises above its surroundings where a delay interval ends.
enum class cut_peak : std::uint8_t { none, low, high, both };
SPIKEWEAVE_API std::string_view to_string(cut_peak cut);

/// The timing of one delay interval of a pair of units.
struct edge_timing {
    /// None if the interval has no more pairs of spikes than the intervals beside it.
    std::optional<delay_estimate> delay{};
    /// (f - b) / (f + b) for f pairs in the interval and b pairs at the same lags in reverse: 1 if
    /// the second unit only follows, 0 if the correlogram is symmetric or there are no pairs.
    double asymmetry = 0;
    /// The ends of the interval beyond which a peak continues.
    cut_peak cut = cut_peak::none;
    /// Pairs of spikes at most `longest_synchrony` apart, and the number expected from the density
    /// of lags from 0.5 to 5 ms, on the side that has fewer: a connection raises one side only. If
    /// the interval is among these lags, those of the 4.5 ms behind it count instead, so that its
    /// peak is in neither side. Both are 0 for a unit with itself.
    std::uint64_t synchronous = 0;
    double synchronous_expected = 0;
    /// Whether more than half of the interval's pairs beyond chance are synchronous.
    bool is_synchronous = false;
    /// Whether more than half of the synchronous pairs expected are missing, by more than three
    /// standard deviations, as after the dead time of a detector on one electrode.
    bool lacks_synchrony = false;
};

/// Measures the timing of pairs of units, each in its delay interval. Within epochs, lags are those
/// of spikes of one epoch.
/// @param pairs  episodes of two units
/// @throws invalid_argument if an episode has another size or a unit that does not exist.
SPIKEWEAVE_API std::vector<edge_timing> time_edges(const spike_sequence& spikes,
                                                   std::span<const episode> pairs,
                                                   const execution& run = {});

}  // namespace spikeweave
