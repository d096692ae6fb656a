#include <cstdint>

#include "device/cuda.hpp"
#include "device/warp.cuh"
#include "mine/spade/devices/cuda/find_maxima.hpp"
#include "mine/spade/devices/root_search.hpp"

namespace spikeweave::spade {
namespace {

struct device_words {
    __device__ static std::uint32_t bits(std::uint32_t word) { return __popc(word); }
    __device__ static std::uint32_t first(std::uint32_t word) { return __ffs(word) - 1; }
    __device__ static std::uint32_t load(const std::uint32_t* place) { return __ldcg(place); }
    __device__ static void raise(std::uint32_t* place, std::uint32_t value) {
        atomicMax(place, value);
    }
    __device__ static std::uint32_t add(std::uint32_t* place, std::uint32_t value) {
        return atomicAdd(place, value);
    }
    __device__ static std::uint32_t set_bits(std::uint32_t* place, std::uint32_t bits) {
        return atomicOr(place, bits);
    }
};

struct device_warp : device_words {
    static constexpr std::uint32_t size = device::warp;

    __device__ static std::uint32_t lane() { return threadIdx.x % size; }
    __device__ static void sync() { __syncwarp(); }
    __device__ static std::uint32_t ballot(bool own) {
        return __ballot_sync(device::whole_warp, own);
    }
    __device__ static std::uint32_t min(std::uint32_t value) {
        return __reduce_min_sync(device::whole_warp, value);
    }
    __device__ static std::uint32_t sum(std::uint32_t value) {
        return __reduce_add_sync(device::whole_warp, value);
    }
    __device__ static std::uint32_t first_lane(std::uint32_t value) {
        return __shfl_sync(device::whole_warp, value, 0);
    }
};

struct device_block : device_words {
    __device__ static std::uint32_t thread() { return threadIdx.x; }
    __device__ static std::uint32_t threads() { return blockDim.x; }
    __device__ static void sync() { __syncthreads(); }
};

constexpr unsigned most_threads = maxima_plan::most_warps * device::warp;

struct search_problem {
    maxima_batch batch;
    maxima_plan plan;
    unsigned char* memory;
    const volatile int* stop;
};

// Takes arrays from memory, one after another.
class memory_cutter {
public:
    __device__ explicit memory_cutter(unsigned char* at) : at_(at) {}
    template <class T>
    __device__ T* take(std::uint64_t values) {
        T* const begin = reinterpret_cast<T*>(at_);
        at_ += values * sizeof(T);
        return begin;
    }

private:
    unsigned char* at_;
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

__device__ warp_space warp_space_of(const search_problem& p, unsigned char* shared) {
    const maxima_shape& shape = p.batch.shape;
    const std::uint32_t warp = threadIdx.x / device::warp;
    memory_cutter cut(p.memory + blockIdx.x * p.plan.block_bytes() + p.plan.root_bytes +
                      warp * p.plan.warp_bytes);
    warp_space out{};
    out.nodes = cut.take<pattern_node>(warp_space::most_depth);
    out.found = cut.take<std::uint32_t>(shape.items());
    out.counts = cut.take<std::uint32_t>(shape.items());
    out.full = cut.take<std::uint32_t>(shape.items());
    out.arena = cut.take<std::uint32_t>(p.plan.arena_words);
    out.arena_words = p.plan.arena_words;
    if (p.plan.shared_bytes > 0) cut = memory_cutter(shared + warp * p.plan.shared_bytes);
    out.unit_words = cut.take<std::uint32_t>(shape.units);
    out.touched = cut.take<std::uint32_t>(shape.units);
    out.path = cut.take<std::uint32_t>(warp_space::most_path);
    out.marked = cut.take<std::uint8_t>(shape.units);
    for (std::uint32_t u = device_warp::lane(); u < shape.units; u += device_warp::size) {
        out.unit_words[u] = 0;
        out.marked[u] = 0;
    }
    __syncwarp();
    return out;
}

__global__ void __launch_bounds__(most_threads, maxima_plan::most_blocks)
    search_batch(const search_problem p) {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ root_state state;
    const auto stopped = [&p] {
        return device_warp::first_lane(device_warp::lane() == 0 && *p.stop != 0) != 0;
    };
    search_roots(device_block{}, device_warp{}, p.batch, root_space_of(p), warp_space_of(p, shared),
                 state, stopped);
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

void find_maxima(const maxima_batch& batch, const maxima_plan& plan, unsigned char* memory,
                 const volatile int* stop, const device::stream& on) {
    const search_problem problem{batch, plan, memory, stop};
    search_batch<<<plan.blocks, plan.warps * device::warp, plan.warps * plan.shared_bytes,
                   on.get()>>>(problem);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::spade
