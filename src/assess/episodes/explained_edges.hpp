#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "assess/episodes/window_test.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {

/// The longest delay of these pairs.
duration longest_delay(std::span<const pair_test> pairs);

/// The lags of pairs in a recording, each in the bins that suit its window.
class edge_lags {
public:
    /// @param spikes   must outlive this object
    /// @param longest  delay of the pairs
    edge_lags(const spike_sequence& spikes, duration longest, duration jitter_window);

    /// The window of an edge with its null hypothesis, and the lags between two trains in its bins.
    struct edge_window {
        lag_grid grid;
        window_null null;
    };
    edge_window window_of(const delay_interval& window, connection_sign sign) const;
    /// The lags of the whole peak or trough, at least those of the window.
    delay_interval extent_of(const pair_test& pair) const;

    std::span<const std::int64_t> times_us(unit_id unit) const { return trains_.times_us(unit); }
    /// The spikes of all units, ascending by time.
    std::span<const std::int64_t> times_us() const { return apart_.spikes().times_us(); }
    std::span<const unit_id> units() const { return apart_.spikes().units(); }
    std::size_t unit_count() const { return trains_.unit_count(); }
    /// The place of each spike of a unit among these.
    std::span<const std::uint32_t> positions(unit_id unit) const { return trains_.positions(unit); }
    std::uint64_t spike_count(unit_id unit) const { return trains_.count(unit); }

private:
    separated_epochs apart_;
    spike_trains trains_;
    std::optional<double> clock_step_us_;
    duration jitter_window_;
};

/// Marks edges that the epochs explain, if these are trials, all of one length: the spikes of the
/// second unit in other trials, at the same times after their begin, are related to those of the
/// first one nearly as much (shift predictor: Perkel, Gerstein, Moore 1967). Artefacts stay what
/// they are.
void mark_stimulus_locked(std::vector<circuit_edge>& edges, const spike_sequence& spikes,
                          double alpha, const execution& run);

/// Marks edges that other units explain: without the spikes of the first unit that are close to
/// spikes of a stronger driver of the second one, the edge vanishes. Edges are tested against the
/// drivers as they were given, so their order does not matter; artefacts are neither tested nor
/// drivers.
void mark_explained(std::vector<circuit_edge>& edges, const edge_lags& lags, const execution& run);

}  // namespace spikeweave::assess
