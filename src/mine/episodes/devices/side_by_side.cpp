#include "mine/episodes/devices/side_by_side.hpp"

#include <algorithm>
#include <limits>

#include "parallel/parallel_for.hpp"

namespace spikeweave::episodes {

sequences_side_by_side::sequences_side_by_side(std::span<const spike_sequence> sequences,
                                               const execution& run) {
    std::vector<std::size_t> begins{0};
    begins.reserve(sequences.size() + 1);
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    for (const spike_sequence& one : sequences) {
        begins.push_back(begins.back() + one.size());
        if (one.empty()) continue;
        first = std::min(first, one.times_us().front());
        last = std::max(last, one.times_us().back());
    }
    if (first <= last) {
        origin_us = first;
        length_us = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
    }
    const std::size_t units_each = sequences.front().unit_count();
    units = units_each * sequences.size();
    times_us.resize(begins.back());
    unit_of.resize(begins.back());
    const execution quietly{.threads = run.threads, .stop = run.stop};
    parallel::parallel_for(sequences.size(), quietly, "upload", [&](std::size_t s) {
        std::ranges::copy(sequences[s].times_us(),
                          times_us.begin() + static_cast<std::ptrdiff_t>(begins[s]));
        const auto before = static_cast<std::uint32_t>(s * units_each);
        std::ranges::transform(
            sequences[s].units(), unit_of.begin() + static_cast<std::ptrdiff_t>(begins[s]),
            [&](unit_id u) { return unit_id{before + static_cast<std::uint32_t>(to_index(u))}; });
    });
}

}  // namespace spikeweave::episodes
