#include "mine/episodes/devices/device_set.hpp"

#include <algorithm>
#include <cstddef>
#include <future>

#include "mine/episodes/devices/backend.hpp"
#include "spikeweave/core/device.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
const cuda_backend& cuda() {
    if (cuda_or_null == nullptr) throw device_error(device_unavailable_reason());
    return *cuda_or_null;
}

device_set::device_set(const counting_problem& problem) {
    const std::vector<int>& wanted = problem.run.devices;
    std::vector<int> different;
    different.reserve(wanted.size());
    for (const int ordinal : wanted) {
        if (std::find(different.begin(), different.end(), ordinal) == different.end())
            different.push_back(ordinal);
    }
    streams_ = cuda().upload(problem.spikes, different, problem.run);
    problems_.reserve(wanted.size());
    for (const int ordinal : wanted) {
        const auto there = std::find(different.begin(), different.end(), ordinal);
        problems_.push_back(device_problem{
            problem, *streams_[static_cast<std::size_t>(there - different.begin())], ordinal});
    }
}

count_result count_on_devices(std::span<const device_problem> devices, device_counter count,
                              const candidate_set& candidates, std::uint64_t at_least) {
    if (candidates.count() > 0 && count == cuda().latest_start &&
        cuda().better_by_time(devices, candidates))
        return cuda().count_over_time(devices, candidates, devices.size());
    const std::size_t shares = std::min(devices.size(), candidates.count());
    if (shares <= 1) return count(devices.front(), candidates, at_least);
    std::vector<std::future<count_result>> parts;
    parts.reserve(shares);
    for (std::size_t share = 0; share < shares; ++share) {
        const std::size_t begin = candidates.count() * share / shares;
        const std::size_t end = candidates.count() * (share + 1) / shares;
        parts.push_back(std::async(
            std::launch::async, [&devices, &candidates, count, at_least, share, begin, end] {
                return count(devices[share], part_of(candidates, begin, end), at_least);
            }));
    }
    count_result whole;
    whole.counts.reserve(candidates.count());
    for (auto& part : parts) {
        const count_result one = part.get();
        whole.counts.insert(whole.counts.end(), one.counts.begin(), one.counts.end());
        whole.merge_misses += one.merge_misses;
        whole.kernel_seconds = std::max(whole.kernel_seconds, one.kernel_seconds);
    }
    return whole;
}

}  // namespace spikeweave::episodes
