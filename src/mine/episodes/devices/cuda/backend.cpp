#include "mine/episodes/devices/backend.hpp"

#include "mine/episodes/latest_start/cuda/time_split.hpp"

namespace spikeweave::episodes {
namespace {

constexpr cuda_backend backend{
    .thread_per_episode = count_by_thread_per_episode_on_device,
    .segments_per_episode = count_by_segments_per_episode_on_device,
    .hybrid = count_by_hybrid_on_device,
    .two_pass = count_by_two_pass_on_device,
    .occurrences = count_by_occurrences_on_device,
    .latest_start = count_by_latest_start_on_device,
    .upload = resident_stream::on_each,
    .levels_of_latest_start = levels_of_latest_start_on_devices,
    .better_by_time = better_by_time,
    .count_over_time = count_over_time,
    .open_many_counter = open_many_counter,
};

}  // namespace

const cuda_backend* const cuda_or_null = &backend;

}  // namespace spikeweave::episodes
