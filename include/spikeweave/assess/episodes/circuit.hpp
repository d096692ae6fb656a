#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/assess/episodes/edge_timing.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The explanation of an edge of the circuit.
enum class edge_kind : std::uint8_t {
    direct,         ///< not explained by any other unit
    indirect,       ///< explained by units that fire in between
    common_input,   ///< explained by units that fire before both
    undecided,      ///< too few spikes are left without those of units that could explain it
    slow,           ///< not explained, but its delay is longer than a synaptic one
    shared_spikes,  ///< one of the units repeats spikes of the other (`find_shared_spikes`)
    synchronous,    ///< most of it is within `shortest_synaptic_delay`, too fast for a chemical
                    ///< synapse
    dead_time,      ///< most synchronous spikes are missing, as after the dead time of the detector
                    ///< on one electrode
    stimulus_locked,  ///< spikes of other trials are as related (shift predictor)
    one_neuron,       ///< the units may have spikes of the same neuron, as their sorter says
                      ///< (spikes/doubtful_pairs.hpp)
    cross_talk,  ///< one of the units may have what was left of the other's spikes, as that says
};
inline constexpr std::array edge_kinds{
    edge_kind::direct,      edge_kind::indirect,  edge_kind::common_input,
    edge_kind::undecided,   edge_kind::slow,      edge_kind::shared_spikes,
    edge_kind::synchronous, edge_kind::dead_time, edge_kind::stimulus_locked,
    edge_kind::one_neuron,  edge_kind::cross_talk};
SPIKEWEAVE_API std::string_view to_string(edge_kind kind);

/// A figure with its 95 % confidence interval.
struct estimate {
    double value = 0;
    double low = 0;
    double high = 0;
};

/// A significant relation between two units.
struct circuit_edge {
    unit_id from;
    unit_id to;
    connection_sign sign = connection_sign::excitatory;
    /// The lags of the whole peak or trough of the correlogram; of a test of episodes, the best
    /// interval, widened by adjacent significant ones.
    delay_interval delay;
    /// The best single window. The figures below are those of this window.
    delay_interval best;
    std::uint64_t count;
    double expected;
    double p;
    double q;
    /// The share of the spikes of the first unit that one of the second follows in the window, at
    /// most 1; of a test of episodes, its strength. It includes chance firing.
    double strength;
    /// count / expected: above 1 for excitation, below 1 for inhibition.
    estimate gain{};
    /// (count - expected) / spikes of the first unit: how much more likely, or less, one of its
    /// spikes makes a spike of the second one.
    estimate transmission{};
    edge_kind kind = edge_kind::direct;
    /// The units that explain an edge that is indirect, by common input or undecided; the one that
    /// explains most is first.
    std::vector<unit_id> via{};
    /// The timing in the interval `delay`.
    edge_timing timing{};

    /// Whether the edge counts as a connection.
    bool is_connection() const { return kind == edge_kind::direct; }
    /// Whether chains may follow it: excitation that no other unit explains, at any delay.
    bool is_step() const {
        return sign == connection_sign::excitatory &&
               (kind == edge_kind::direct || kind == edge_kind::slow);
    }
};

template <>
struct members_of<circuit_edge> {
    static void list(const auto& to) {
        const auto timing = [](auto member) {
            return [member](const circuit_edge& edge) { return edge.timing.*member; };
        };
        to("from", &circuit_edge::from, "the two units");
        to("to", &circuit_edge::to);
        to("sign", &circuit_edge::sign, "excitatory or inhibitory");
        to("delay", &circuit_edge::delay,
           "the lags of the whole peak or trough; with surrogates and `--test exact` or "
           "`chebyshev`, the best interval, widened by significant ones that touch it");
        to("best_delay", &circuit_edge::best,
           "the best single window, to which the following figures refer");
        to("count", &circuit_edge::count, "pairs of spikes whose lag is in it");
        to("expected", &circuit_edge::expected,
           "how many there would be without a connection, from the lags beside the window");
        to("p", &circuit_edge::p,
           "the probability of so many, or so few, by chance, for all windows and both signs; q is "
           "corrected for all pairs that could be significant");
        to("q", &circuit_edge::q);
        to("strength", &circuit_edge::strength,
           "`count` / spikes of `from`, at most 1; chance firing is part of it");
        to("gain", &circuit_edge::gain,
           "`count` / `expected`, and its 95 % confidence interval: above 1 for excitation, below "
           "1 for inhibition");
        to("transmission", &circuit_edge::transmission,
           "(`count` − `expected`) / spikes of `from`, and its 95 % confidence interval: how many "
           "spikes a spike of `from` adds; negative for inhibition");
        to("kind", &circuit_edge::kind,
           "direct, indirect, common-input, undecided, slow, stimulus-locked, shared-spikes, "
           "synchronous, dead-time, possibly-one-neuron or cross-talk; only direct edges are "
           "connections");
        to("via", &circuit_edge::via,
           "the unit that explains most of an edge that is indirect, by common input or undecided, "
           "otherwise `-`");
        to("mean_delay", timing(&edge_timing::delay),
           "the mean delay of the pairs in `delay` beyond chance, and its 95 % confidence "
           "interval; `-` if there are no more pairs than beside the interval");
        to("asymmetry", timing(&edge_timing::asymmetry),
           "from −1 to 1: near 0, the second unit fires before the first one as often as after it; "
           "below 0 for inhibition");
        to("cut", timing(&edge_timing::cut),
           "the ends of `delay` beyond which the peak of the cross-correlogram continues: no, low, "
           "high or both");
        to("synchronous", timing(&edge_timing::synchronous),
           "pairs of spikes at most 0.5 ms apart, and the number expected from the lags of 0.5 to "
           "5 ms, or from those behind `delay` if it is among these");
        to("synchronous_expected", timing(&edge_timing::synchronous_expected));
    }
};

/// The significant delays between units, and the chains that follow direct ones.
struct circuit {
    std::vector<circuit_edge> edges{};
    /// Significant episodes of three units or more that follow direct edges and are part of no
    /// longer one, as indices into the table's episodes, longest first.
    std::vector<std::size_t> chains{};
};

struct circuit_options {
    double alpha = 0.01;
    duration jitter_window = std::chrono::milliseconds{10};
};

/// Builds the circuit: each significant pair becomes an edge, with its figures; artefacts and what
/// other units explain are marked (docs/algorithms/circuit.md). Chains are significant episodes of
/// the table that follow excitatory edges. `assessed[i]` belongs to `table.episodes[i]`.
/// @throws invalid_argument if the parts are not of these spikes, or an option is out of range;
/// cancelled.
SPIKEWEAVE_API circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                                    std::span<const episode_test> assessed,
                                    std::span<const pair_test> pairs,
                                    const circuit_options& options = {}, const execution& run = {});

/// Does so with the significant pairs of the table in place of pairs that were tested by
/// themselves, so there is no inhibition.
SPIKEWEAVE_API circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                                    std::span<const episode_test> assessed,
                                    const circuit_options& options = {}, const execution& run = {});

/// Warnings about edges between units that may not be two neurons, as full sentences.
SPIKEWEAVE_API std::vector<std::string> warnings_of(const circuit& found,
                                                    const spike_sequence& spikes);

/// The units that excite some units and inhibit others by direct edges, against Dale's principle.
SPIKEWEAVE_API std::vector<unit_id> units_of_both_signs(const circuit& found);

/// Finds the episodes that are not part of another episode of the table, as a run of consecutive
/// steps. Returns their indices, longest first.
SPIKEWEAVE_API std::vector<std::size_t> maximal_episodes(const episode_table& table);

}  // namespace spikeweave
