// Counts from the survivors of a list at which a count of an earlier part of the recording can
// continue.

#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"
#include "mine/episodes/latest_start/cuda/survivor_search.cuh"

namespace spikeweave::episodes {
namespace {

constexpr std::uint32_t entry_threads = 256;

struct entry_problem {
    list_view lists;
    const list_count* counted;
    std::uint32_t from;
    std::uint32_t* sizes;
    const std::uint64_t* begins;  // first entry of each list
    entry_count* entries;
};

__global__ void __launch_bounds__(entry_threads) count_entries(const entry_problem p) {
    const std::uint32_t list = blockIdx.x * entry_threads + threadIdx.x;
    if (list >= p.lists.count) return;
    const std::uint64_t end = p.lists.begins[list + 1];
    const std::uint64_t first = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
    const std::uint64_t free = first_not_before(p.lists.starts, first, end, p.from);
    p.sizes[list] = static_cast<std::uint32_t>(min(end, free + 1) - first);
}

// Each warp has a list and each lane an entry. A lane counts from its entry and, beside it, from
// the first entry until both take the same survivor.
__global__ void __launch_bounds__(32) follow_entries(const entry_problem p) {
    const std::uint32_t list = blockIdx.x;
    const std::uint64_t end = p.lists.begins[list + 1];
    const std::uint64_t first = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
    const list_count whole = p.counted[list];
    for (std::uint64_t e = p.begins[list] + threadIdx.x; e < p.begins[list + 1]; e += 32) {
        const std::uint64_t entry = first + (e - p.begins[list]);
        std::uint32_t first_free = 0;
        std::uint32_t first_taken = 0;
        std::uint32_t own_free = 0;
        std::uint32_t own_taken = 0;
        bool met = false;
        for (std::uint64_t i = first; i < end && !met; ++i) {
            const std::uint32_t start = p.lists.starts[i];
            const std::uint32_t behind = p.lists.ends[i] + 1;
            const bool by_first = start >= first_free;
            const bool by_own = i >= entry && start >= own_free;
            if (by_first) {
                first_free = behind;
                ++first_taken;
            }
            if (by_own) {
                own_free = behind;
                ++own_taken;
            }
            met = by_first && by_own;
        }
        p.entries[e] = {p.lists.starts[entry],
                        met ? whole.count - first_taken + own_taken : own_taken,
                        met ? whole.after_last : own_free};
    }
}

}  // namespace

std::vector<std::vector<entry_count>> entries_of_lists(const list_view& lists,
                                                       std::span<const list_count> counted,
                                                       std::uint32_t from,
                                                       const device::stream& on) {
    std::vector<std::vector<entry_count>> entries(lists.count);
    if (lists.count == 0) return entries;
    const device::buffer<list_count> counted_there(counted, on);
    device::buffer<std::uint32_t> sizes(lists.count, on);
    entry_problem problem{lists, counted_there.data(), from, sizes.data(), nullptr, nullptr};
    const auto grid = static_cast<std::uint32_t>(pieces_of(lists.count, entry_threads));
    count_entries<<<grid, entry_threads, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    const std::vector<std::uint32_t> found = sizes.downloaded();
    std::vector<std::uint64_t> begins{0};
    begins.reserve(found.size() + 1);
    for (const std::uint32_t size : found) begins.push_back(begins.back() + size);
    if (begins.back() == 0) return entries;
    const device::buffer<std::uint64_t> begins_there(begins, on);
    const device::buffer<entry_count> all(begins.back(), on);
    problem.begins = begins_there.data();
    problem.entries = all.data();
    follow_entries<<<lists.count, 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    const std::vector<entry_count> values = all.downloaded();
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i].assign(values.begin() + static_cast<std::ptrdiff_t>(begins[i]),
                          values.begin() + static_cast<std::ptrdiff_t>(begins[i + 1]));
    return entries;
}

}  // namespace spikeweave::episodes
