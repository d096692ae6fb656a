#include <cstdint>

#include "device/cuda.hpp"
#include "mine/spade/devices/cuda/search_kernels.hpp"
#include "mine/spade/devices/device_lanes.cuh"
#include "mine/spade/devices/root_search.hpp"

namespace spikeweave::spade {
namespace {

constexpr unsigned most_threads = search_plan::most_warps * device::warp;

struct search_problem {
    maxima_batch batch;
    search_plan plan;
    unsigned char* memory;
    const volatile int* stop;
};

__device__ root_space root_space_of(const search_problem& p) {
    const maxima_shape& shape = p.batch.shape;
    memory_cutter cut(p.memory + blockIdx.x * p.plan.block_bytes());
    root_space out{};
    out.counts = cut.take<std::uint32_t>(shape.items());
    out.items = cut.take<std::uint32_t>(shape.items());
    out.places = cut.take<std::uint32_t>(shape.most_windows + std::uint64_t{1});
    out.words = cut.take<std::uint32_t>(std::uint64_t{shape.items()} * shape.most_planes());
    out.excluded = cut.take<std::uint32_t>(std::uint64_t{shape.units} * shape.most_planes());
    return out;
}

__global__ void __launch_bounds__(most_threads, search_plan::most_blocks)
    search_batch(const search_problem p) {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ root_state state;
    const auto stopped = [&p] {
        return device_warp::first_lane(device_warp::lane() == 0 && *p.stop != 0) != 0;
    };
    search_roots(device_block{}, device_warp{}, p.batch, root_space_of(p),
                 warp_space_of(p.batch.shape, p.plan, p.memory, shared), state, stopped);
}

// One thread a unit of a recording: two spikes of a unit may share a word.
__global__ void set_bits_of_rasters(const maxima_batch batch, std::uint32_t* rasters) {
    const std::uint64_t rows = std::uint64_t{batch.shape.recordings} * batch.shape.units;
    const std::uint64_t row = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    std::uint32_t* const words = rasters + row * batch.shape.row_words;
    for (std::uint64_t i = batch.offsets[row]; i < batch.offsets[row + 1]; ++i) {
        const std::uint32_t at = batch.shape.pad_words * 32 + batch.bins[i];
        words[at / 32] |= 1U << at % 32;
    }
}

}  // namespace

void fill_rasters(const maxima_batch& batch, std::uint32_t* rasters, const device::stream& on) {
    constexpr unsigned threads = 128;
    const std::uint64_t rows = std::uint64_t{batch.shape.recordings} * batch.shape.units;
    const auto blocks = static_cast<unsigned>((rows + threads - 1) / threads);
    set_bits_of_rasters<<<blocks, threads, 0, on.get()>>>(batch, rasters);
    device::check(cudaGetLastError());
}

void find_maxima(const maxima_batch& batch, const search_plan& plan, unsigned char* memory,
                 const volatile int* stop, const device::stream& on) {
    const search_problem problem{batch, plan, memory, stop};
    search_batch<<<plan.blocks, plan.warps * device::warp, plan.warps * plan.shared_bytes,
                   on.get()>>>(problem);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::spade
