#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

/// The similarity of two circuits of the same units, beyond the roles of the units.
/// docs/algorithms/circuit-stability.md has the formulas.
namespace spikeweave {

/// From one unit to another.
using directed_pair = std::pair<unit_id, unit_id>;

/// The ordered pairs of units of the direct edges, sorted and each once. Delays are left out.
SPIKEWEAVE_API std::vector<directed_pair> direct_pairs(const circuit& found);

struct circuit_stability_options {
    /// Random circuits, in each of which every unit keeps its numbers of incoming and outgoing
    /// edges.
    std::uint32_t exchanges = 199;
    std::uint64_t seed = 1;
};

SPIKEWEAVE_API option_list describe(circuit_stability_options& options);

struct circuit_stability {
    std::size_t before = 0;  ///< pairs of the circuit before
    std::size_t after = 0;   ///< pairs of the circuit after it
    std::size_t common = 0;
    /// The common pairs divided by all that one of them has (Jaccard 1912).
    std::optional<double> jaccard{};
    /// Its mean if the edges before are exchanged.
    std::optional<double> expected{};
    /// (jaccard - expected) / (1 - expected): 1 if both are equal, 0 if they have only as much in
    /// common as the roles of the units explain. None if a circuit has no pair, or no edge can be
    /// exchanged.
    std::optional<double> index{};
    double p = 1;  ///< of so many common pairs or more, if the edges before are exchanged
};

/// Compares two circuits of the same units, as sorted pairs. The index corrects the Jaccard index
/// for chance in the form of Hubert and Arabie (1985, doi:10.1007/BF01908075). Chance is the mean
/// over random graphs of the same degrees as the circuit before, without loops and double edges, by
/// exchanges of the ends of two edges (Maslov and Sneppen 2002, doi:10.1126/science.1065103) and
/// reversals of cycles of three, which reach all of them (Roberts and Coolen 2012,
/// doi:10.1103/PhysRevE.85.046103). p counts the observed circuit.
/// @param run  cancellation; the rest is ignored
/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API circuit_stability measure_stability(std::span<const directed_pair> before,
                                                   std::span<const directed_pair> after,
                                                   const circuit_stability_options& options = {},
                                                   const execution& run = {});

}  // namespace spikeweave
