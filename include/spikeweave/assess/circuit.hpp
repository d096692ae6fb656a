#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Why an edge stands in the circuit as it does.
enum class edge_kind : std::uint8_t {
    direct,
    indirect,      ///< explained by a path over one other unit
    common_input,  ///< explained by a unit that drives both ends at different delays
};
std::string_view to_string(edge_kind kind);

/// A significant delay between two units.
struct circuit_edge {
    unit_id from;
    unit_id to;
    /// The best interval, widened by adjacent significant ones.
    delay_interval delay;
    /// Of the best single interval.
    delay_interval best;
    std::uint64_t count;
    double expected;
    double p;
    double q;
    double strength;
    edge_kind kind;
    /// The unit that explains an edge which is not direct.
    std::optional<unit_id> via{};
};

struct circuit {
    std::vector<circuit_edge> edges{};
    /// Significant episodes of three units or more that walk along direct edges and lie in no
    /// longer one: indices into the table's episodes, longest first.
    std::vector<std::size_t> chains{};
};

struct circuit_options {
    double alpha = 0.01;
    /// An edge a→c is indirect when a→b→c explains at least this fraction of its count.
    double explained = 0.7;
};

/// `assessed[i]` belongs to `table.episodes[i]`. Inhibition is invisible to frequent episodes and
/// not looked for.
circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                     std::span<const assessed_episode> assessed,
                     const circuit_options& options = {}, const execution& run = {});

/// Episodes that lie (as a run of consecutive steps) in no other episode of the table: indices,
/// longest first.
std::vector<std::size_t> maximal_episodes(const episode_table& table);

}  // namespace spikeweave
