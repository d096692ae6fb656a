#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mine/episodes/devices/resident_stream.hpp"
#include "mine/episodes/search/candidates.hpp"
#include "mine/episodes/search/counters.hpp"

/// The private interface of episode mining on CUDA devices: one function for each strategy. They
/// are in the table of backend.hpp.
namespace spikeweave::episodes {

/// The counting problem, and one device with its spikes.
struct device_problem : counting_problem {
    const resident_stream& data;
    int ordinal;
};

// Each function counts candidates of size 2 or more on one device. Counts below `at_least` may be
// returned as any smaller number. They throw device_error and cancelled.
count_result count_by_thread_per_episode_on_device(const device_problem&, const candidate_set&,
                                                   std::uint64_t at_least);
count_result count_by_segments_per_episode_on_device(const device_problem&, const candidate_set&,
                                                     std::uint64_t at_least);
count_result count_by_hybrid_on_device(const device_problem&, const candidate_set&,
                                       std::uint64_t at_least);
count_result count_by_two_pass_on_device(const device_problem&, const candidate_set&,
                                         std::uint64_t at_least);
count_result count_by_occurrences_on_device(const device_problem&, const candidate_set&,
                                            std::uint64_t at_least);
count_result count_by_latest_start_on_device(const device_problem&, const candidate_set&,
                                             std::uint64_t at_least);

/// Makes a warning, as one sentence, for each of these devices for which the strategy `hybrid` was
/// never calibrated.
std::vector<std::string> warnings_of_hybrid(std::span<const int> devices);

using device_counter = count_result (*)(const device_problem&, const candidate_set&, std::uint64_t);

/// Counts by latest start, level by level, on all `devices`, which hold the same spikes.
std::unique_ptr<level_counter> levels_of_latest_start_on_devices(
    std::span<const device_problem> devices, const level_rules&);

}  // namespace spikeweave::episodes
