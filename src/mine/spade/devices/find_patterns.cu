#include "device/cuda.hpp"
#include "mine/spade/devices/cuda/search_kernels.hpp"
#include "mine/spade/devices/device_lanes.cuh"
#include "mine/spade/devices/pattern_tasks.hpp"

namespace spikeweave::spade {
namespace {

constexpr unsigned threads_of_block = search_plan::most_warps_for_patterns * device::warp;

struct task_problem {
    pattern_batch batch;
    maxima_shape shape;
    search_plan plan;
    unsigned char* memory;
    const volatile int* stop;
};

__global__ void __launch_bounds__(threads_of_block, search_plan::most_blocks)
    search_all_tasks(const task_problem p) {
    extern __shared__ __align__(16) unsigned char shared[];
    const auto stopped = [&p] {
        return device_warp::first_lane(device_warp::lane() == 0 && *p.stop != 0) != 0;
    };
    search_tasks(device_warp{}, p.batch, warp_space_of(p.shape, p.plan, p.memory, shared), stopped);
}

__global__ void fill_one_root(const pattern_batch batch) {
    fill_root(device_block{}, batch, blockIdx.x);
}

}  // namespace

void fill_roots(const pattern_batch& batch, const device::stream& on) {
    fill_one_root<<<batch.root_count, threads_of_block, 0, on.get()>>>(batch);
    device::check(cudaGetLastError());
}

void find_patterns(const pattern_batch& batch, const maxima_shape& shape, const search_plan& plan,
                   unsigned char* memory, const volatile int* stop, const device::stream& on) {
    const task_problem problem{batch, shape, plan, memory, stop};
    search_all_tasks<<<plan.blocks, plan.warps * device::warp, plan.warps * plan.shared_bytes,
                       on.get()>>>(problem);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::spade
