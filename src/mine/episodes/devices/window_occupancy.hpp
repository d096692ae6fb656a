#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/search/candidates.hpp"

namespace spikeweave::episodes {

/// The largest number of spikes of one unit in any closed window [t - high, t].
struct occupancy_question {
    std::uint32_t unit;
    std::int64_t high;
};
struct occupancy_answers {
    std::vector<std::uint32_t> most{};
    double kernel_seconds = 0;
};

/// Answers each query with one element. Each query reads the trains once.
occupancy_answers most_spikes_within(const device_problem&, std::span<const occupancy_question>);

/// The largest number of stamps in the list of each candidate's nodes, except the last node:
/// most[c * (size - 1) + k] is that of node k, whose stamps stay open as long as the delay to the
/// next node may be.
occupancy_answers most_open_stamps(const device_problem&, const candidate_set&);
/// The same for spikes that no later spike of the next node can follow yet: those within the lower
/// bound of the delay.
occupancy_answers most_spikes_too_young(const device_problem&, const candidate_set&);

}  // namespace spikeweave::episodes
