#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::assess {

/// The pair of units k and k + 1 of an episode, with the delay between them.
inline episode step_of(const episode& what, std::size_t k) {
    return {{what.units[k], what.units[k + 1]}, {what.delays[k]}};
}

inline const episode& episode_in(const episode& one) {
    return one;
}
inline const episode& episode_in(const counted_episode& one) {
    return one.what;
}

/// The longest delay of these episodes: how far epochs have to be apart.
template <class Episodes>
duration reach_of(const Episodes& episodes) {
    duration reach{0};
    for (const auto& one : episodes)
        for (const delay_interval& delay : episode_in(one).delays)
            reach = std::max(reach, delay.high);
    return reach;
}

/// Null models of many episodes in the same spikes. Their common quantities are measured once.
class independent_units {
public:
    /// @param spikes  with epochs so far apart that no episode reaches from one into the next
    /// @throws invalid_argument if the tick is not positive.
    independent_units(const spike_sequence& spikes, duration tick);

    occurrence_model model(const episode& what);
    /// The probability that the unit fires in one tick.
    double fires_in_tick(unit_id unit);
    std::uint64_t count(unit_id unit) const { return trains_.count(unit); }

private:
    /// The probability that a unit follows times that are unrelated to it.
    struct follower {
        double share;    ///< share of all times that the unit follows within the delay interval
        double delay_s;  ///< mean delay to the first such spike
    };
    follower measure(unit_id unit, const delay_interval& delay) const;
    const follower& following(unit_id unit, const delay_interval& delay);

    duration tick_;
    double tick_s_;
    double ticks_;
    std::vector<time_span> observed_;
    spike_trains trains_;
    std::map<std::pair<unit_id, delay_interval>, follower> followers_;
};

/// The start probability with which the model's expected count is `mean`.
double start_probability_for(double mean, double ticks, double span_ticks);

/// Corrects p-values of a table's episodes size by size, for all candidates of the size.
std::vector<double> adjust_by_size(const episode_table& table, std::span<const double> p,
                                   correction_method method);

}  // namespace spikeweave::assess
