// The published PTPE: one thread is the state machine of Algorithm 1 for one episode and reads
// every spike.
//
//   work per thread   all spikes * the size of the episode
//   shared memory     one tile of spikes
//   pays off          if there are more episodes than threads that run at once on the GPU
//
// The machine is that of cpu.cpp, which explains how the published text is read. Its
// lists of open stamps have no cap: each is a ring in device memory, as large as the spikes can
// make it (stamp_rings.hpp). The oldest and the newest stamp of each list stay in registers, so
// that memory is only read when a stamp expires.

#include <array>
#include <limits>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/candidate_steps.cuh"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/devices/window_occupancy.hpp"
#include "published/state_machine/stamp_rings.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned tile = 256;
constexpr int most_threads = 256;
// A tile takes about ten microseconds, checking the flag takes one.
constexpr unsigned tiles_between_stop_checks = 64;
// Machines of up to this size are kept in registers.
constexpr std::size_t largest_in_registers = 8;

// One node: its unit, the delay that leads to it, and its open stamps.
template <class Stamp>
struct node {
    std::uint32_t unit;
    std::uint32_t capacity;
    Stamp low;
    Stamp high;
    Stamp* stamps;
    std::uint32_t head;
    std::uint32_t length;
    Stamp oldest;
    Stamp newest;
};

template <class Stamp>
struct machine_problem {
    resident_events events;
    const std::uint32_t* units;   // [candidate * size + node]
    const std::uint32_t* delays;  // [candidate * (size - 1) + node]
    const step_of<Stamp>* steps;
    const ring* rings;
    Stamp* stamps;
    node<Stamp>* nodes;  // [node * candidates + candidate], for machines that are not in registers
    const volatile int* stop;
    std::uint32_t candidates;
    std::uint32_t size;
    std::uint32_t lanes;
    bool strict;  // tie_rule::time
};

// Drops stamps that have been open for longer than `keep`.
template <class Stamp>
__device__ void expire(node<Stamp>& of, Stamp time, Stamp keep, std::uint32_t lanes) {
#pragma unroll 1
    while (of.length > 0 && time - of.oldest > keep) {
        of.head = of.head + 1 == of.capacity ? 0 : of.head + 1;
        if (--of.length > 0) of.oldest = of.stamps[std::uint64_t{of.head} * lanes];
    }
}

// `keep`: how long a stamp of this list stays open.
template <class Stamp>
__device__ void append(node<Stamp>& to, Stamp time, Stamp keep, std::uint32_t lanes) {
    // A full ring contains a stamp that has expired, as no more spikes fit into the time it spans.
    if (to.length == to.capacity) expire(to, time, keep, lanes);
    std::uint32_t slot = to.head + to.length;
    if (slot >= to.capacity) slot -= to.capacity;
    to.stamps[std::uint64_t{slot} * lanes] = time;
    if (to.length == 0) to.oldest = time;
    to.newest = time;
    ++to.length;
}

// Processes one spike. Later nodes are first, so that it never serves two nodes in a row.
template <class Stamp, class NodeAt>
__device__ void see(const NodeAt& at, int size, std::uint32_t lanes, bool strict, Stamp time,
                    std::uint32_t unit, std::uint32_t& count, Stamp& last_completion) {
#pragma unroll
    for (int k = size - 1; k > 0; --k) {
        node<Stamp>& here = at(k);
        if (here.unit != unit) continue;
        node<Stamp>& before = at(k - 1);
        if (before.length == 0) continue;
        if (time - before.newest > here.high) {
            before.length = 0;
            continue;
        }
        expire(before, time, here.high, lanes);
        if (time - before.oldest <= here.low) continue;
        if (k + 1 < size) {
            append(here, time, at(k + 1).high, lanes);
            continue;
        }
        ++count;
        last_completion = time;
#pragma unroll
        for (int i = 0; i + 1 < size; ++i) at(i).length = 0;
        return;
    }
    if (at(0).unit == unit && (!strict || count == 0 || time > last_completion))
        append(at(0), time, at(1).high, lanes);
}

template <class Stamp>
__device__ node<Stamp> empty_node(const machine_problem<Stamp>& p, std::uint32_t candidate,
                                  std::uint32_t k) {
    node<Stamp> one{};
    one.unit = p.units[std::uint64_t{candidate} * p.size + k];
    if (k > 0) {
        const step_of<Stamp> step =
            p.steps[p.delays[std::uint64_t{candidate} * (p.size - 1) + k - 1]];
        one.low = step.low;
        one.high = step.high;
    }
    if (k + 1 < p.size) {
        const ring layout = p.rings[std::uint64_t{candidate / p.lanes} * (p.size - 1) + k];
        one.capacity = layout.capacity;
        one.stamps = p.stamps + layout.begin + candidate % p.lanes;
    }
    return one;
}

// `Size` 0 stands for any size, with nodes in device memory.
template <int Size, class Stamp>
__global__ void __launch_bounds__(most_threads, 1)
    count_machines(const machine_problem<Stamp> p, std::uint32_t* __restrict__ counts) {
    __shared__ Stamp times[tile];
    __shared__ std::uint32_t units[tile];
    __shared__ bool stopped;
    const std::uint32_t candidate = blockIdx.x * blockDim.x + threadIdx.x;
    const bool active = candidate < p.candidates;
    const int size = Size > 0 ? Size : static_cast<int>(p.size);
    node<Stamp> own[Size > 0 ? Size : 1];
    const auto at = [&](int k) -> node<Stamp>& {
        if constexpr (Size > 0) {
            return own[k];
        } else {
            return p.nodes[std::uint64_t(k) * p.candidates + candidate];
        }
    };
    if (active) {
#pragma unroll
        for (int k = 0; k < size; ++k)
            at(k) = empty_node(p, candidate, static_cast<std::uint32_t>(k));
    }

    std::uint32_t count = 0;
    Stamp last_completion = 0;
    for (std::uint64_t begin = 0, t = 0; begin < p.events.size; begin += tile, ++t) {
        __syncthreads();
        if (threadIdx.x == 0 && t % tiles_between_stop_checks == 0) stopped = *p.stop != 0;
        const auto here = static_cast<unsigned>(min(std::uint64_t{tile}, p.events.size - begin));
        for (unsigned i = threadIdx.x; i < here; i += blockDim.x) {
            times[i] = stamp_of<Stamp>(p.events, static_cast<std::uint32_t>(begin + i));
            units[i] = p.events.unit[begin + i];
        }
        __syncthreads();
        if (stopped) return;
        if (!active) continue;
        for (unsigned i = 0; i < here; ++i)
            see<Stamp>(at, size, p.lanes, p.strict, times[i], units[i], count, last_completion);
    }
    if (active) counts[candidate] = count;
}

template <class Stamp>
using machine_kernel = void (*)(machine_problem<Stamp>, std::uint32_t*);

template <class Stamp>
machine_kernel<Stamp> kernel_for(std::size_t size) {
    constexpr std::array<machine_kernel<Stamp>, largest_in_registers + 1> kernels{
        count_machines<0, Stamp>, count_machines<0, Stamp>, count_machines<2, Stamp>,
        count_machines<3, Stamp>, count_machines<4, Stamp>, count_machines<5, Stamp>,
        count_machines<6, Stamp>, count_machines<7, Stamp>, count_machines<8, Stamp>};
    return kernels[size <= largest_in_registers ? size : 0];
}

template <class Stamp>
count_result count_with(const device_problem& problem, const candidate_set& candidates) {
    const occupancy_answers capacities = most_open_stamps(problem, candidates);
    const device::device_limits limits = device::limits_of(problem.ordinal);
    const std::vector<ring_chunk> chunks =
        plan_rings(capacities.most, candidates.size - 1, work_space_bytes(limits) / sizeof(Stamp));

    const device::stream on;
    const device::buffer<std::uint32_t> units(plain(candidates.units), on);
    const device::buffer<std::uint32_t> delays(candidates.delays, on);
    const device::buffer<step_of<Stamp>> steps(steps_of<Stamp>(problem), on);
    const device::buffer<std::uint32_t> counts(candidates.count(), on);
    device::stop_flag stop;
    const device::stopwatch watch;
    count_result result{{}, 0, capacities.kernel_seconds};
    for (const ring_chunk& chunk : chunks) {
        const device::buffer<ring> rings(chunk.rings, on);
        const device::buffer<Stamp> stamps(chunk.slots, on);
        const device::buffer<node<Stamp>> nodes(
            candidates.size <= largest_in_registers ? 0 : chunk.candidates * candidates.size, on);
        const machine_problem<Stamp> p{
            .events = problem.data.events(),
            .units = units.data() + chunk.first_candidate * candidates.size,
            .delays = delays.data() + chunk.first_candidate * (candidates.size - 1),
            .steps = steps.data(),
            .rings = rings.data(),
            .stamps = stamps.data(),
            .nodes = nodes.data(),
            .stop = stop.flag(),
            .candidates = static_cast<std::uint32_t>(chunk.candidates),
            .size = static_cast<std::uint32_t>(candidates.size),
            .lanes = chunk.lanes,
            .strict = problem.ties == tie_rule::time};
        const int threads = threads_for_even_spread(chunk.candidates, limits.multiprocessors);
        const auto blocks =
            static_cast<unsigned>(pieces_of(chunk.candidates, static_cast<std::uint64_t>(threads)));
        watch.start(on);
        kernel_for<Stamp>(candidates.size)<<<blocks, static_cast<unsigned>(threads), 0, on.get()>>>(
            p, counts.data() + chunk.first_candidate);
        device::check(cudaGetLastError());
        watch.stop(on);
        stop.wait(on, problem.run.stop);
        result.kernel_seconds += watch.seconds();
    }
    const std::vector<std::uint32_t> numbers = counts.downloaded();
    result.counts.assign(numbers.begin(), numbers.end());
    return result;
}

}  // namespace

count_result count_by_thread_per_episode_on_device(const device_problem& problem,
                                                   const candidate_set& candidates, std::uint64_t) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    return problem.data.length_us() <= std::numeric_limits<std::uint32_t>::max()
               ? count_with<std::uint32_t>(problem, candidates)
               : count_with<std::uint64_t>(problem, candidates);
}

}  // namespace spikeweave::episodes
