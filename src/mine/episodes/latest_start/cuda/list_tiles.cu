// Computes the first tile of each of many lists.

#include "mine/episodes/latest_start/cuda/list_tiles.cuh"

namespace spikeweave::episodes::list_tiles {
namespace {

// Up to this number of lists, a warp finds the list of a tile by itself; for more lists it searches
// a table.
constexpr std::uint32_t few_jobs = 32;

// Runs in one block.
__global__ void __launch_bounds__(1024)
    plan_tiles(const tile_source source, std::uint32_t* __restrict__ tile_begins) {
    __shared__ std::uint32_t warp_sums[32];
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    std::uint32_t before = 0;
    for (std::uint32_t base = 0; base < source.job_count; base += 1024) {
        const std::uint32_t job = base + threadIdx.x;
        const std::uint32_t own = job < source.job_count ? tiles_of(source, job) : 0;
        std::uint32_t up_to = own;
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t left = __shfl_up_sync(whole_warp, up_to, d);
            if (lane >= d) up_to += left;
        }
        if (lane == 31) warp_sums[warp] = up_to;
        __syncthreads();
        std::uint32_t sums = warp_sums[lane];
        for (std::uint32_t d = 1; d < 32; d *= 2) {
            const std::uint32_t left = __shfl_up_sync(whole_warp, sums, d);
            if (lane >= d) sums += left;
        }
        const std::uint32_t all = __shfl_sync(whole_warp, sums, 31);
        const std::uint32_t warps_before = __shfl_sync(whole_warp, sums, warp == 0 ? 0 : warp - 1);
        if (job < source.job_count)
            tile_begins[job] = before + (warp == 0 ? 0 : warps_before) + up_to - own;
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) tile_begins[source.job_count] = before;
}

}  // namespace

std::uint64_t plan_words(std::uint32_t jobs) {
    return jobs <= few_jobs ? 0 : jobs / 2 + std::uint64_t{1};
}

void plan(tile_source& source, std::uint64_t* words, const device::stream& on) {
    if (source.job_count <= few_jobs) return;
    auto* const tile_begins = reinterpret_cast<std::uint32_t*>(words);
    plan_tiles<<<1, 1024, 0, on.get()>>>(source, tile_begins);
    device::check(cudaGetLastError());
    source.tile_begins = tile_begins;
}

}  // namespace spikeweave::episodes::list_tiles
