#pragma once

#include <cstdint>

#include "device/warp.cuh"
#include "mine/spade/devices/pattern_node.hpp"
#include "mine/spade/devices/search_plan.hpp"

/// The lanes of a device (lanes.hpp), and their memory.
namespace spikeweave::spade {

/// The functions that each lane calls for itself.
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
    __device__ static std::uint32_t min(std::uint32_t value) { return device::warp_min(value); }
    __device__ static std::uint32_t sum(std::uint32_t value) { return device::warp_sum(value); }
    __device__ static std::uint32_t first_lane(std::uint32_t value) {
        return __shfl_sync(device::whole_warp, value, 0);
    }
};

struct device_block : device_words {
    __device__ static std::uint32_t thread() { return threadIdx.x; }
    __device__ static std::uint32_t threads() { return blockDim.x; }
    __device__ static void sync() { __syncthreads(); }
};

/// Takes arrays from memory, one after another.
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

/// The memory of the calling warp, after that for the root of its block.
inline __device__ warp_space warp_space_of(const maxima_shape& shape, const search_plan& plan,
                                           unsigned char* memory, unsigned char* shared) {
    const std::uint32_t warp = threadIdx.x / device::warp;
    memory_cutter cut(memory + blockIdx.x * plan.block_bytes() + plan.root_bytes +
                      warp * plan.warp_bytes);
    warp_space out{};
    out.nodes = cut.take<pattern_node>(warp_space::most_depth);
    out.pattern = cut.take<std::uint32_t>(warp_space::most_path);
    out.found = cut.take<std::uint32_t>(shape.items());
    out.counts = cut.take<std::uint32_t>(shape.items());
    out.full = cut.take<std::uint32_t>(shape.items());
    out.arena = cut.take<std::uint32_t>(plan.arena_words);
    out.arena_words = plan.arena_words;
    if (plan.shared_bytes > 0) cut = memory_cutter(shared + warp * plan.shared_bytes);
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

}  // namespace spikeweave::spade
