#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/assess/significance.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Null models of many episodes in the same spikes: the rates are counted once.
class independent_units {
public:
    /// @throws invalid_argument unless the tick is positive.
    independent_units(const spike_sequence& spikes, duration tick);

    occurrence_model model(const episode& what) const;
    /// Probability that the unit fires in one tick.
    double fires_in_tick(unit_id unit) const;
    std::uint64_t count(unit_id unit) const { return counts_[index(unit)]; }

private:
    double tick_s_;
    double ticks_;
    std::vector<std::uint64_t> counts_;
};

/// The start probability with which the model's expected count is `mean`.
double start_probability_for(double mean, double ticks, double span_ticks);

/// Corrects p-values of a table's episodes size by size, for all candidates of the size.
std::vector<double> adjust_by_size(const episode_table& table, std::span<const double> p,
                                   correction method);

}  // namespace spikeweave
