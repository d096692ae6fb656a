// Counts the non-overlapped occurrences of survivor lists with long runs of overlapping survivors.

#include "device/warp.cuh"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"
#include "mine/episodes/latest_start/cuda/survivor_search.cuh"

namespace spikeweave::episodes {
namespace {

using device::whole_warp;
constexpr std::uint32_t dense_tile = 2048;

struct dense_problem {
    list_view lists;
    const std::uint32_t* which;        // indices of the lists
    const std::uint32_t* tile_begins;  // first tile of each of them, and the number of tiles
    std::uint32_t which_count;
    std::uint32_t from;
    list_count* results;  // indexed like `which`; `dense`: the state at the beginning of some tile
                          // is unknown
};

// The state of the greedy choice at some point of a list.
struct greedy {
    std::uint32_t free_from;  // where the next occurrence may start
    std::uint32_t taken;
};

// Continues over up to 32 survivors, one per lane. Called by a whole warp.
__device__ void take(greedy& state, bool there, std::uint32_t start, std::uint32_t end) {
    for (;;) {
        const unsigned open = __ballot_sync(whole_warp, there && start >= state.free_from);
        if (open == 0) return;
        // Starts never decrease, and a survivor starts before it ends, so none is taken twice.
        state.free_from = __shfl_sync(whole_warp, end, __ffs(static_cast<int>(open)) - 1) + 1;
        ++state.taken;
    }
}

// One warp counts one tile. The first survivor that it takes depends on what was taken before, but
// only on a short part of it: whatever the state is at the beginning of this part, it lies between
// "nothing was taken" and "the previous survivor was taken", and choices that begin between two
// others stay between them. If both take the same survivor as their n-th, so does the true one. The
// same holds at a survivor that starts after the end of the previous one, where all choices meet.
__global__ void __launch_bounds__(32) count_dense_tiles(const dense_problem p) {
    const std::uint32_t lane = threadIdx.x;
    std::uint32_t low = 0;
    std::uint32_t high = p.which_count;
    while (high - low > 1) {
        const std::uint32_t middle = (low + high) / 2;
        if (p.tile_begins[middle] <= blockIdx.x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const std::uint32_t list = p.which[low];
    const std::uint64_t list_end = p.lists.begins[list + 1];
    const std::uint64_t list_begin =
        first_not_before(p.lists.ends, p.lists.begins[list], list_end, p.from);
    const std::uint64_t begin =
        list_begin + std::uint64_t{blockIdx.x - p.tile_begins[low]} * dense_tile;
    if (begin >= list_end) return;
    const std::uint64_t end = min(list_end, begin + dense_tile);

    const std::uint64_t look_back =
        begin - list_begin < dense_tile ? list_begin : begin - dense_tile;
    greedy nothing_taken{0, 0};
    greedy just_taken{look_back == list_begin ? 0 : p.lists.ends[look_back - 1] + 1, 0};
    bool met = look_back == list_begin;
    for (std::uint64_t base = look_back; base < begin; base += 32) {
        const std::uint64_t i = base + lane;
        const bool there = i < begin;
        const std::uint32_t start = there ? p.lists.starts[i] : 0;
        const std::uint32_t at = there ? p.lists.ends[i] : 0;
        take(nothing_taken, there, start, at);
        take(just_taken, there, start, at);
        const bool apart = there && i > list_begin && start > p.lists.ends[i - 1];
        met = __any_sync(whole_warp, apart) || met;
    }
    met = met || (nothing_taken.taken > 0 && nothing_taken.taken == just_taken.taken &&
                  nothing_taken.free_from == just_taken.free_from);
    if (!met) met = p.lists.starts[begin] > p.lists.ends[begin - 1];
    if (!met) {
        if (lane == 0) p.results[low].dense = 1;
        return;
    }
    greedy state{nothing_taken.free_from, 0};
    for (std::uint64_t base = begin; base < end; base += 32) {
        const std::uint64_t i = base + lane;
        const bool there = i < end;
        take(state, there, there ? p.lists.starts[i] : 0, there ? p.lists.ends[i] : 0);
    }
    if (lane != 0) return;
    atomicAdd(&p.results[low].count, state.taken);
    if (end == list_end) p.results[low].after_last = state.free_from;
}

// Counts the lists for which the state at the beginning of a tile is unknown (regular spike trains
// cause this), each with one warp from its first survivor to its last.
__global__ void __launch_bounds__(32) count_whole_lists(const dense_problem p) {
    const std::uint32_t lane = threadIdx.x;
    if (p.results[blockIdx.x].dense == 0) return;
    const std::uint32_t list = p.which[blockIdx.x];
    const std::uint64_t end = p.lists.begins[list + 1];
    greedy state{0, 0};
    for (std::uint64_t base = first_not_before(p.lists.ends, p.lists.begins[list], end, p.from);
         base < end; base += 32) {
        const bool there = base + lane < end;
        take(state, there, there ? p.lists.starts[base + lane] : 0,
             there ? p.lists.ends[base + lane] : 0);
    }
    if (lane == 0) p.results[blockIdx.x] = {state.taken, state.free_from, 0};
}

}  // namespace

std::vector<list_count> count_dense_lists(const list_view& lists,
                                          std::span<const std::uint64_t> begins,
                                          std::span<const std::uint32_t> which, std::uint32_t from,
                                          const device::stream& on) {
    if (which.empty()) return {};
    std::vector<std::uint32_t> tile_begins{0};
    tile_begins.reserve(which.size() + 1);
    for (const std::uint32_t list : which) {
        const std::uint64_t size = begins[list + 1] - begins[list];
        tile_begins.push_back(tile_begins.back() +
                              static_cast<std::uint32_t>(pieces_of(size, dense_tile)));
    }
    const device::buffer<std::uint32_t> lists_there(which, on);
    const device::buffer<std::uint32_t> tiles_there(tile_begins, on);
    device::buffer<list_count> results(which.size(), on);
    results.fill(0);
    const auto count = static_cast<std::uint32_t>(which.size());
    const dense_problem problem{lists, lists_there.data(), tiles_there.data(), count,
                                from,  results.data()};
    count_dense_tiles<<<tile_begins.back(), 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    count_whole_lists<<<count, 32, 0, on.get()>>>(problem);
    device::check(cudaGetLastError());
    return results.downloaded();
}

}  // namespace spikeweave::episodes
