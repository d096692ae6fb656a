// The published MTPE with Map-Concatenate: the time of one episode is cut into segments, one thread
// counts in each, and the segments are joined in log2(segments) rounds. The join is exact.
//
//   work per thread   one pass over the spikes of a segment and of its reach
//   shared memory     4 bytes
//   pays off          if there are too few episodes for one thread each
//
// While counting, a thread lists the survivors of its segment: the ends of occurrences, each with
// its latest start (docs/algorithms/episodes.md). Greedy counting from any state is a walk over
// these: an end is taken if its start is later than the last end taken. The published algorithm
// runs several machines per segment, one for each node of the episode, which begin so far before
// the segment that they can hold the occurrence that crosses the boundary. They correspond to walks
// that differ only in the time at which they begin. So one pass over the spikes makes all walks,
// where the published kernel ran as many state machines.
//
// Joining searches for the machine whose first end in its segment is the end at which the previous
// segment was left. There may be none, a case that the published join cannot handle; these
// boundaries are counted. Here the missing walk is then computed: it continues from that end, over
// further boundaries if necessary, until it takes an end that the next segment's own first walk
// takes, too. From there on the two are the same, because a walk depends only on the last end
// taken. They meet soon, because neither can overtake the other.

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/devices/window_occupancy.hpp"
#include "published/segments/segment_walks.cuh"
#include "published/segments/segments_per_episode.hpp"

namespace spikeweave::episodes {
namespace {

using namespace segment_walks;

// The published join: each walk continues with the first walk of the next segment whose first end
// is this one's crossing. `sum` is the count in this segment or, with `misses`, 1 if there is no
// such walk; the published algorithm then continues with the next segment's own walk.
template <class Stamp>
__global__ void __launch_bounds__(threads)
    join(const segment_problem<Stamp> p, bool misses, const chain to,
         std::uint32_t* __restrict__ missing, std::uint32_t* __restrict__ missing_count) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= p.rows()) return;
    const auto row = static_cast<std::uint32_t>(i);
    const std::uint32_t thread = row / p.size;
    const std::uint32_t segment = thread % p.segments;
    const std::uint32_t segments = p.cuts[thread / p.segments].segments;
    to.next[row] = none;
    to.sum[row] = segment < segments && !misses ? p.count[row] : 0;
    if (segment + 1 >= segments) return;
    const std::uint32_t next = (thread + 1) * p.size;
    std::uint32_t k = 0;
    while (k < p.size && p.first_end[next + k] != p.crossing[row]) ++k;
    if (k < p.size) {
        to.next[row] = next + k;
    } else if (misses) {
        to.next[row] = next;
        to.sum[row] = 1;
    } else {
        missing[atomicAdd(missing_count, 1)] = row;
    }
}

// Extends each row by the rest of its next row: after r rounds, it covers 2^r rows.
__global__ void __launch_bounds__(threads)
    jump(std::uint32_t rows, const chain from, const chain to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows) return;
    const std::uint32_t next = from.next[i];
    to.next[i] = next == none ? none : from.next[next];
    to.sum[i] = from.sum[i] + (next == none ? 0 : from.sum[next]);
}

__global__ void __launch_bounds__(threads)
    take_first_rows(std::uint32_t candidates, std::uint32_t rows_of_each, const chain from,
                    std::int64_t* __restrict__ to) {
    const std::uint32_t candidate = blockIdx.x * threads + threadIdx.x;
    if (candidate < candidates) to[candidate] = from.sum[std::uint64_t{candidate} * rows_of_each];
}

unsigned blocks_for(std::uint64_t all) {
    return static_cast<unsigned>(pieces_of(all, threads));
}

struct chain_memory {
    chain_memory(std::size_t rows, const device::stream& on) : next(rows, on), sum(rows, on) {}
    chain view() const { return {next.data(), sum.data()}; }

    device::buffer<std::uint32_t> next;
    device::buffer<std::int64_t> sum;
};

// The memory for some candidates, which are counted together.
template <class Stamp>
struct chunk_memory {
    chunk_memory(std::span<const std::uint64_t> begins, std::uint64_t entries_size,
                 std::uint64_t machines, std::uint64_t rows, const device::stream& on)
        : entries_begin(begins, on),
          entries(entries_size, on),
          nodes(machines, on),
          walks(machines, on),
          cuts(begins.size(), on),
          first_end(rows, on),
          crossing(rows, on),
          count(rows, on) {}

    device::buffer<std::uint64_t> entries_begin;
    device::buffer<entry<Stamp>> entries;
    device::buffer<node<Stamp>> nodes;
    device::buffer<walk<Stamp>> walks;
    device::buffer<cut> cuts;
    device::buffer<Stamp> first_end;
    device::buffer<Stamp> crossing;
    device::buffer<std::uint32_t> count;
};

// Returns the work space of one candidate in bytes.
template <class Stamp>
std::uint64_t bytes_of(std::uint64_t segments, std::uint64_t size, std::uint64_t slots) {
    constexpr std::uint64_t row = 2 * sizeof(Stamp) + 2 * sizeof(std::uint32_t) +
                                  2 * (sizeof(std::uint32_t) + sizeof(std::int64_t));
    constexpr std::uint64_t machine = sizeof(node<Stamp>) + sizeof(walk<Stamp>);
    return segments * (size * (row + (size > largest_in_registers<Stamp> ? machine : 0)) +
                       slots * sizeof(entry<Stamp>));
}

template <class Stamp>
class segment_counter {
public:
    segment_counter(const device_problem& problem, const candidate_set& candidates,
                    std::uint32_t most_segments)
        : problem_(problem),
          candidates_(candidates),
          most_segments_(most_segments),
          work_space_(work_space_bytes(device::limits_of(problem.ordinal))),
          units_(plain(candidates.units), on_),
          delays_(candidates.delays, on_),
          steps_(steps_of<Stamp>(problem), on_) {
        occupancy_answers within = most_spikes_too_young(problem, candidates);
        result_.kernel_seconds = within.kernel_seconds;
        for (std::uint32_t& capacity : within.most) ++capacity;
        slots_.resize(candidates.count());
        for (std::size_t i = 0; i < within.most.size(); ++i)
            slots_[i / (candidates.size - 1)] += within.most[i];
        capacities_ = {within.most, on_};
        const std::uint64_t worst = *std::max_element(slots_.begin(), slots_.end());
        while (most_segments_ > warp &&
               bytes_of<Stamp>(most_segments_, candidates.size, worst) > work_space_)
            most_segments_ /= 2;
        segments_ = static_cast<std::uint32_t>(pieces_of(most_segments_, warp)) * warp;
    }

    count_result count() {
        result_.counts.reserve(candidates_.count());
        for (std::size_t first = 0; first < candidates_.count();) {
            std::size_t end = first;
            std::uint64_t bytes = 0;
            do {
                bytes += bytes_of<Stamp>(segments_, candidates_.size, slots_[end++]);
            } while (end < candidates_.count() && (end - first + 1) * rows_of_each() <= most_rows &&
                     bytes + bytes_of<Stamp>(segments_, candidates_.size, slots_[end]) <=
                         work_space_);
            count_chunk(first, end);
            first = end;
        }
        return std::move(result_);
    }

private:
    static constexpr std::uint64_t most_rows = std::uint64_t{1} << 31;

    std::uint64_t rows_of_each() const { return std::uint64_t{segments_} * candidates_.size; }
    void count_chunk(std::size_t first, std::size_t end);
    segment_problem<Stamp> problem_of(const chunk_memory<Stamp>& memory, std::size_t first,
                                      std::uint32_t candidates) const;
    template <class Launch>
    void timed(const Launch& launch) {
        watch_.start(on_);
        launch();
        device::check(cudaGetLastError());
        watch_.stop(on_);
        stop_.wait(on_, problem_.run.stop);
        result_.kernel_seconds += watch_.seconds();
    }
    // Returns the total of each candidate, which is that of its first row.
    std::vector<std::int64_t> totals(std::uint32_t candidates, chain_memory& from,
                                     chain_memory& spare);

    const device_problem& problem_;
    const candidate_set& candidates_;
    std::uint32_t most_segments_;
    std::uint32_t segments_ = 0;  // segments in memory, a multiple of the warp size
    std::uint64_t work_space_;
    std::vector<std::uint64_t> slots_;  // number of slots of one thread, for each candidate
    device::stream on_;
    device::buffer<std::uint32_t> units_;
    device::buffer<std::uint32_t> delays_;
    device::buffer<step_of<Stamp>> steps_;
    device::buffer<std::uint32_t> capacities_;
    device::stop_flag stop_;
    device::stopwatch watch_;
    count_result result_;
};

template <class Stamp>
std::vector<std::int64_t> segment_counter<Stamp>::totals(std::uint32_t candidates,
                                                         chain_memory& from, chain_memory& spare) {
    const auto rows = static_cast<std::uint32_t>(candidates * rows_of_each());
    const device::buffer<std::int64_t> of_each(candidates, on_);
    timed([&] {
        for (auto rounds = std::bit_width(segments_); rounds > 0; --rounds) {
            jump<<<blocks_for(rows), threads, 0, on_.get()>>>(rows, from.view(), spare.view());
            std::swap(from, spare);
        }
        take_first_rows<<<blocks_for(candidates), threads, 0, on_.get()>>>(
            candidates, static_cast<std::uint32_t>(rows_of_each()), from.view(), of_each.data());
    });
    return of_each.downloaded();
}

template <class Stamp>
segment_problem<Stamp> segment_counter<Stamp>::problem_of(const chunk_memory<Stamp>& memory,
                                                          std::size_t first,
                                                          std::uint32_t candidates) const {
    return {.events = problem_.data.events(),
            .trains = problem_.data.trains(),
            .units = units_.data() + first * candidates_.size,
            .delays = delays_.data() + first * (candidates_.size - 1),
            .capacities = capacities_.data() + first * (candidates_.size - 1),
            .steps = steps_.data(),
            .entries_begin = memory.entries_begin.data(),
            .entries = memory.entries.data(),
            .nodes = memory.nodes.data(),
            .walks = memory.walks.data(),
            .cuts = memory.cuts.data(),
            .first_end = memory.first_end.data(),
            .crossing = memory.crossing.data(),
            .count = memory.count.data(),
            .stop = stop_.flag(),
            .length = static_cast<std::int64_t>(problem_.data.length_us()),
            .candidates = candidates,
            .size = static_cast<std::uint32_t>(candidates_.size),
            .most_segments = most_segments_,
            .segments = segments_,
            .by_order = problem_.ties == tie_rule::order};
}

template <class Stamp>
void segment_counter<Stamp>::count_chunk(std::size_t first, std::size_t end) {
    const auto candidates = static_cast<std::uint32_t>(end - first);
    const std::uint64_t rows = candidates * rows_of_each();
    const std::uint64_t machines = candidates_.size <= largest_in_registers<Stamp> ? 0 : rows;
    std::vector<std::uint64_t> begins;
    begins.reserve(candidates);
    std::uint64_t entries_size = 0;
    std::uint64_t worst = 0;
    for (std::size_t c = first; c < end; ++c) {
        begins.push_back(entries_size);
        entries_size += slots_[c] * segments_;
        worst = std::max(worst, slots_[c]);
    }
    const chunk_memory<Stamp> memory(begins, entries_size, machines, rows, on_);
    const device::buffer<std::uint32_t> missing(rows, on_);
    device::buffer<std::uint32_t> missing_count(1, on_);
    chain_memory chains(rows, on_);
    chain_memory spare(rows, on_);
    const segment_problem<Stamp> p = problem_of(memory, first, candidates);
    const walk_kernels<Stamp> kernel = kernels_for<Stamp>(candidates_.size);

    missing_count.fill(0);
    timed([&] {
        kernel.cut_time<<<blocks_for(candidates), threads, 0, on_.get()>>>(p);
        kernel.walk_segments<<<blocks_for(std::uint64_t{candidates} * segments_), threads, 0,
                               on_.get()>>>(p);
        join<<<blocks_for(rows), threads, 0, on_.get()>>>(p, false, chains.view(), missing.data(),
                                                          missing_count.data());
    });
    const std::uint32_t misses = missing_count.downloaded().front();
    const std::uint64_t together =
        std::min(entries_size / (warp * worst) * warp, std::uint64_t{candidates} * segments_);
    for (std::uint64_t done = 0; done < misses; done += together) {
        const auto now = static_cast<std::uint32_t>(std::min(together, misses - done));
        timed([&] {
            kernel.walk_on<<<blocks_for(now), threads, 0, on_.get()>>>(p, missing.data() + done,
                                                                       now, worst, chains.view());
        });
    }
    for (const std::int64_t total : totals(candidates, chains, spare))
        result_.counts.push_back(static_cast<std::uint64_t>(total));
    if (misses == 0) return;
    timed([&] {
        join<<<blocks_for(rows), threads, 0, on_.get()>>>(p, true, chains.view(), nullptr, nullptr);
    });
    for (const std::int64_t total : totals(candidates, chains, spare))
        result_.merge_misses += static_cast<std::uint64_t>(total);
}

}  // namespace

count_result count_in_segments(const device_problem& problem, const candidate_set& candidates,
                               std::uint32_t segments) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    // An order key is one more than a time and has to fit as well.
    return problem.data.length_us() < std::numeric_limits<std::uint32_t>::max()
               ? segment_counter<std::uint32_t>(problem, candidates, segments).count()
               : segment_counter<std::uint64_t>(problem, candidates, segments).count();
}

count_result count_by_segments_per_episode_on_device(const device_problem& problem,
                                                     const candidate_set& candidates,
                                                     std::uint64_t) {
    return count_in_segments(problem, candidates,
                             segments_for(candidates.count(), device::limits_of(problem.ordinal)));
}

}  // namespace spikeweave::episodes
