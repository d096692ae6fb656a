#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/episodes/edge_timing.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// How an edge of the circuit is explained.
enum class edge_kind : std::uint8_t {
    direct,         ///< not explained by any other unit
    indirect,       ///< explained by a path through one other unit
    common_input,   ///< explained by a unit that drives both ends at different delays
    shared_spikes,  ///< one of the units repeats spikes of the other (`find_shared_spikes`)
    synchronous,    ///< most of it is within `longest_synchrony`, too fast for a chemical synapse
    dead_time,      ///< most synchronous spikes are missing, as after the dead time of the detector
                    ///< on one electrode
};
inline constexpr std::array edge_kinds{edge_kind::direct,       edge_kind::indirect,
                                       edge_kind::common_input, edge_kind::shared_spikes,
                                       edge_kind::synchronous,  edge_kind::dead_time};
SPIKEWEAVE_API std::string_view to_string(edge_kind kind);

/// A significant delay between two units.
struct circuit_edge {
    unit_id from;
    unit_id to;
    /// The best interval, widened by adjacent significant ones.
    delay_interval delay;
    /// The best single interval. The figures below are those of this interval.
    delay_interval best;
    std::uint64_t count;
    double expected;
    double p;
    double q;
    double strength;
    edge_kind kind;
    /// The unit that explains an edge that is indirect or by common input, else none.
    std::optional<unit_id> via{};
    /// The timing in the interval `delay`.
    edge_timing timing{};
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
    /// An edge a→c can be indirect only if a→b→c occurs at least this many times as often as a→c
    /// does beyond chance.
    double explained = 0.7;
};

/// Builds the circuit from the significant episodes of a table. `assessed[i]` belongs to
/// `table.episodes[i]`. Inhibition cannot be seen in frequent episodes, so it is not looked for.
SPIKEWEAVE_API circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                                    std::span<const episode_test> assessed,
                                    const circuit_options& options = {}, const execution& run = {});

/// Finds the episodes that are not part of another episode of the table, as a run of consecutive
/// steps. Returns their indices, longest first.
SPIKEWEAVE_API std::vector<std::size_t> maximal_episodes(const episode_table& table);

}  // namespace spikeweave
