// The published Algorithms 4 and 5: a relaxed count of every candidate first, then the state
// machine for those that remain.
//
//   work per thread   all spikes * the size of the episode, a few instructions each
//   shared memory     one tile of spikes
//   pays off          if nearly all candidates are rare and exact counts are expensive
//
// The relaxed machine keeps one stamp per node, the newest, and tests only the upper bound of a
// delay: it counts in windows [0, high]. Its count is never below that for (low, high], by
// induction over spikes and nodes: whenever the exact machine has an open stamp at a node, the
// relaxed one has a stamp there that is at least as new, or has completed and restarted since. A
// newer stamp satisfies every upper bound that an older one satisfies, and nothing else is tested;
// so each exact completion has a relaxed one at or before it, and after the last spike the relaxed
// machine has counted at least as often. Simultaneous spikes and repeated units do not change this,
// because a delay of 0 is accepted and both machines offer a spike to later nodes first. A strict
// test against 0 would break it: the newest stamp may have the current time and hide an older one
// that is needed.

#include <array>
#include <limits>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/candidate_steps.cuh"
#include "mine/episodes/devices/counters.hpp"
#include "mine/episodes/devices/plan.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned tile = 256;
constexpr int most_threads = 256;
constexpr unsigned tiles_between_stop_checks = 64;
// Machines of up to this size are kept in registers.
constexpr std::size_t largest_in_registers = 8;

template <class Stamp>
struct node {
    std::uint32_t unit;
    Stamp high;
    Stamp stamp;
};

template <class Stamp>
struct relaxed_problem {
    resident_events events;
    const std::uint32_t* units;   // [candidate * size + node]
    const std::uint32_t* delays;  // [candidate * (size - 1) + node]
    const step_of<Stamp>* steps;
    node<Stamp>* nodes;  // [node * candidates + candidate], for machines that are not in registers
    const volatile int* stop;
    std::uint32_t candidates;
    std::uint32_t size;
};

// Processes one spike. All stamps are dropped at once, so the nodes that have one are the first
// `reached`.
template <class Stamp, class NodeAt>
__device__ void see(const NodeAt& at, int size, Stamp time, std::uint32_t unit, int& reached,
                    std::uint32_t& bound) {
#pragma unroll
    for (int k = size - 1; k > 0; --k) {
        node<Stamp>& here = at(k);
        if (here.unit != unit || reached < k || time - at(k - 1).stamp > here.high) continue;
        if (k + 1 < size) {
            here.stamp = time;
            reached = max(reached, k + 1);
            continue;
        }
        ++bound;
        reached = 0;
        return;
    }
    if (at(0).unit == unit) {
        at(0).stamp = time;
        reached = max(reached, 1);
    }
}

// `Size` 0 stands for any size, with nodes in device memory.
template <int Size, class Stamp>
__global__ void __launch_bounds__(most_threads)
    bound_counts(const relaxed_problem<Stamp> p, std::uint32_t* __restrict__ bounds) {
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
        for (int k = 0; k < size; ++k) {
            at(k) = {p.units[std::uint64_t{candidate} * p.size + k], 0, 0};
            if (k > 0)
                at(k).high =
                    p.steps[p.delays[std::uint64_t{candidate} * (p.size - 1) + k - 1]].high;
        }
    }

    std::uint32_t bound = 0;
    int reached = 0;
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
            see<Stamp>(at, size, times[i], units[i], reached, bound);
    }
    if (active) bounds[candidate] = bound;
}

template <class Stamp>
using relaxed_kernel = void (*)(relaxed_problem<Stamp>, std::uint32_t*);

template <class Stamp>
relaxed_kernel<Stamp> kernel_for(std::size_t size) {
    constexpr std::array<relaxed_kernel<Stamp>, largest_in_registers + 1> kernels{
        bound_counts<0, Stamp>, bound_counts<0, Stamp>, bound_counts<2, Stamp>,
        bound_counts<3, Stamp>, bound_counts<4, Stamp>, bound_counts<5, Stamp>,
        bound_counts<6, Stamp>, bound_counts<7, Stamp>, bound_counts<8, Stamp>};
    return kernels[size <= largest_in_registers ? size : 0];
}

struct bounds {
    std::vector<std::uint32_t> of{};
    double kernel_seconds = 0;
};

template <class Stamp>
bounds bounds_with(const device_problem& problem, const candidate_set& candidates) {
    const device::stream on;
    const device::buffer<std::uint32_t> units(plain(candidates.units), on);
    const device::buffer<std::uint32_t> delays(candidates.delays, on);
    const device::buffer<step_of<Stamp>> steps(steps_of<Stamp>(problem), on);
    const device::buffer<node<Stamp>> nodes(
        candidates.size <= largest_in_registers ? 0 : candidates.units.size(), on);
    const device::buffer<std::uint32_t> found(candidates.count(), on);
    device::stop_flag stop;
    const relaxed_problem<Stamp> p{.events = problem.data.events(),
                                   .units = units.data(),
                                   .delays = delays.data(),
                                   .steps = steps.data(),
                                   .nodes = nodes.data(),
                                   .stop = stop.flag(),
                                   .candidates = static_cast<std::uint32_t>(candidates.count()),
                                   .size = static_cast<std::uint32_t>(candidates.size)};
    const int threads = threads_for_even_spread(candidates.count(),
                                                device::limits_of(problem.ordinal).multiprocessors);
    const auto blocks =
        static_cast<unsigned>(pieces_of(candidates.count(), static_cast<std::uint64_t>(threads)));
    const device::stopwatch watch;
    watch.start(on);
    kernel_for<Stamp>(candidates.size)<<<blocks, static_cast<unsigned>(threads), 0, on.get()>>>(
        p, found.data());
    device::check(cudaGetLastError());
    watch.stop(on);
    stop.wait(on, problem.run.stop);
    return {found.downloaded(), watch.seconds()};
}

}  // namespace

count_result count_by_two_pass_on_device(const device_problem& problem,
                                         const candidate_set& candidates, std::uint64_t at_least) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    const bounds most = problem.data.length_us() <= std::numeric_limits<std::uint32_t>::max()
                            ? bounds_with<std::uint32_t>(problem, candidates)
                            : bounds_with<std::uint64_t>(problem, candidates);
    candidate_set left{candidates.size};
    std::vector<std::size_t> chosen;
    chosen.reserve(candidates.count());
    for (std::size_t c = 0; c < candidates.count(); ++c) {
        if (most.of[c] < at_least) continue;
        left.append(candidates.units_of(c), candidates.delays_of(c));
        chosen.push_back(c);
    }
    const count_result exact = count_by_thread_per_episode_on_device(problem, left, at_least);
    count_result result{std::vector<std::uint64_t>(candidates.count()), 0,
                        most.kernel_seconds + exact.kernel_seconds};
    for (std::size_t i = 0; i < chosen.size(); ++i) result.counts[chosen[i]] = exact.counts[i];
    return result;
}

}  // namespace spikeweave::episodes
