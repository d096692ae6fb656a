#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/many_counter.hpp"

namespace spikeweave::episodes {

/// The functions that a build with CUDA adds to the mining of episodes. Code that is always built
/// calls it through this table only.
struct cuda_backend {
    device_counter thread_per_episode;
    device_counter segments_per_episode;
    device_counter hybrid;
    device_counter two_pass;
    device_counter occurrences;
    device_counter latest_start;
    std::vector<std::unique_ptr<resident_stream>> (*upload)(const spike_sequence&,
                                                            std::span<const int> ordinals,
                                                            const execution&);
    std::unique_ptr<level_counter> (*levels_of_latest_start)(std::span<const device_problem>,
                                                             const level_rules&);
    bool (*better_by_time)(std::span<const device_problem>, const candidate_set&);
    count_result (*count_over_time)(std::span<const device_problem>, const candidate_set&,
                                    std::size_t segments);
    std::unique_ptr<many_counter> (*open_many_counter)(const many_counts_problem&, int ordinal);
};

/// Null in a build without CUDA.
extern const cuda_backend* const cuda_or_null;

/// @throws device_error in a build without CUDA.
const cuda_backend& cuda();

}  // namespace spikeweave::episodes
