#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"
#include "mine/episodes/search/counters.hpp"

namespace spikeweave::episodes {

/// A pair of wanted units, given by their indices in the list of these, with its count.
struct counted_pair {
    std::uint32_t from;
    std::uint32_t delay;
    std::uint32_t to;
    std::uint32_t count;
};

/// Counts pairs from every one of `units` to [first_to, last_to) of them with every interval, by
/// looking back from each spike over the widest interval, and returns those that count at least
/// `at_least`, in no particular order. Adds the time that kernels ran to `kernel_seconds`.
std::vector<counted_pair> look_back_on_device(const device_problem& problem,
                                              const interval_32* intervals,
                                              std::span<const unit_id> units, std::size_t first_to,
                                              std::size_t last_to, std::uint64_t at_least,
                                              const device::device_limits& limits,
                                              const device::stream& on, double& kernel_seconds);

}  // namespace spikeweave::episodes
