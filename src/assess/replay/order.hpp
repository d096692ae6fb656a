#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/assess/replay.hpp"

/// The order of a chain's units in events.
namespace spikeweave::assess {

/// The frequency of each number of wrongly ordered pairs among all n! orders of n units, and
/// derived values: Kendall 1938, Biometrika 30:81.
class order_distribution {
public:
    explicit order_distribution(std::size_t units);
    /// The share of orders with at most so many wrongly ordered pairs.
    double at_most(std::size_t wrong) const { return cumulative_[wrong]; }
    /// The largest such share that is at most alpha; 0 if there is none.
    double attainable(double alpha) const;

private:
    std::vector<double> cumulative_{};
};

/// One spike of each unit in each event, drawn at random; `no_spike` if the unit has none.
constexpr std::int64_t no_spike = INT64_MIN;
using event_times = std::vector<std::vector<std::int64_t>>;
event_times draw_spikes(const spike_sequence& spikes, std::span<const time_span> events,
                        std::uint64_t seed);

/// Scores the events in which at least three units of a chain fire, and sets the results of
/// `forward` and `reverse` for them. Units that are in the chain more than once have no place in
/// its order.
std::vector<replay_event> score_order(const episode& chain, const event_times& times, double alpha,
                                      replay_test& forward, replay_test& reverse);

}  // namespace spikeweave::assess
