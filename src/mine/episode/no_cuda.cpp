// Replaces cuda/ in a build without CUDA.

#include <vector>

#include "mine/episode/cuda/counters.hpp"
#include "mine/episode/cuda/time_split.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {

struct resident_stream::state {};

std::vector<std::unique_ptr<resident_stream>> resident_stream::on_each(const spike_sequence&,
                                                                       std::span<const int>,
                                                                       const execution&) {
    throw device_error(device_unavailable_reason());
}
resident_stream::~resident_stream() = default;

int resident_stream::ordinal() const {
    throw device_error(device_unavailable_reason());
}
resident_events resident_stream::events() const {
    throw device_error(device_unavailable_reason());
}
resident_search resident_stream::search() const {
    throw device_error(device_unavailable_reason());
}
resident_trains resident_stream::trains() const {
    throw device_error(device_unavailable_reason());
}
std::span<const std::uint32_t> resident_stream::train_begins() const {
    throw device_error(device_unavailable_reason());
}
std::uint64_t resident_stream::length_us() const {
    throw device_error(device_unavailable_reason());
}

count_result count_by_thread_per_episode_on_device(const device_problem&, const candidate_set&,
                                                   std::uint64_t) {
    throw device_error(device_unavailable_reason());
}
count_result count_by_segments_per_episode_on_device(const device_problem&, const candidate_set&,
                                                     std::uint64_t) {
    throw device_error(device_unavailable_reason());
}
count_result count_by_two_pass_on_device(const device_problem&, const candidate_set&,
                                         std::uint64_t) {
    throw device_error(device_unavailable_reason());
}
count_result count_by_occurrences_on_device(const device_problem&, const candidate_set&,
                                            std::uint64_t) {
    throw device_error(device_unavailable_reason());
}
count_result count_by_latest_start_on_device(const device_problem&, const candidate_set&,
                                             std::uint64_t) {
    throw device_error(device_unavailable_reason());
}
bool better_by_time(std::span<const device_problem>, const candidate_set&) {
    throw device_error(device_unavailable_reason());
}
count_result count_over_time(std::span<const device_problem>, const candidate_set&, std::size_t) {
    throw device_error(device_unavailable_reason());
}
std::unique_ptr<level_counter> levels_of_latest_start_on_devices(std::span<const device_problem>,
                                                                 const level_rules&) {
    throw device_error(device_unavailable_reason());
}

}  // namespace spikeweave::episodes
