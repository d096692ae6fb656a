// The published Algorithms 2 and 3 with one thread per occurrence: node by node, every partial
// occurrence is extended by every spike that can continue it; then the complete occurrences are
// scheduled greedily.
//
//   work per thread   two binary searches in the train of the next unit, and one write per
//                     continuation
//   shared memory     8 bytes; 8 kB for scheduling
//   pays off          never on current GPUs: the lists grow combinatorially in bursts
//
// Each thread finds a different number of continuations, and all have to end up in one list. Three
// published methods are implemented:
//   atomic            a counter of the block, then one of the whole list; the list is unordered,
//                     so the last one is sorted by the ends of occurrences
//   select            fixed slots for each thread, compacted afterwards (CUDPP then, CUB now)
//   count-scan-write  count, prefix sum, write
// None of them can overflow silently. The first two guess the capacity, keep counting beyond it,
// and if it was too small repeat the step with the exact one; `select` works in pieces if slots for
// all do not fit. If a whole list does not fit, fewer starts are processed at a time.
//
// Lists that keep the order of their starts need no sorting (docs/algorithms/episodes.md): the
// first occurrence of a start is the one that ends first. Scheduling is parallel except for its
// last step. For each occurrence, a binary search finds the next one that starts after its end;
// this works because starts ascend or, in the sorted list, because the latest start so far does.
// Tables then hold where each occurrence leads beyond its tile and how many are taken on the way.
// Finally one thread per episode goes from tile to tile.

#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "device/cuda.hpp"
#include "mine/episode/cuda/candidate_steps.cuh"
#include "mine/episode/cuda/occurrences.hpp"
#include "mine/episode/cuda/plan.hpp"

namespace spikeweave::episodes {
namespace {

constexpr unsigned threads = 256;
constexpr std::uint32_t none = UINT32_MAX;

// Spikes are given by their indices among all trains.
struct partial {
    std::uint32_t candidate;
    std::uint32_t start;
    std::uint32_t at;
};

struct list_problem {
    resident_trains trains;
    const std::uint32_t* units;   // [candidate * size + node]
    const std::uint32_t* delays;  // [candidate * (size - 1) + node]
    const interval_us* steps;
    const std::uint64_t* starts_before;  // of each candidate, and the total
    std::uint32_t candidates;
    std::uint32_t size;
    bool by_order;  // tie_rule::order

    __device__ std::uint32_t unit(std::uint32_t candidate, std::uint32_t node) const {
        return units[std::uint64_t{candidate} * size + node];
    }
};

// Returns the first spike of a unit for which `is_late` holds; it must hold for all later ones,
// too.
template <class Late>
__device__ std::uint32_t first_late(const resident_trains& trains, std::uint32_t unit,
                                    const Late& is_late) {
    std::uint32_t begin = trains.begin[unit];
    std::uint32_t end = trains.begin[unit + 1];
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (is_late(middle)) {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

__device__ std::uint32_t first_after(const resident_trains& trains, std::uint32_t unit,
                                     std::int64_t time) {
    return first_late(trains, unit,
                      [&](std::uint32_t spike) { return time_of(trains, unit, spike) > time; });
}

struct matches {
    std::uint32_t first;
    std::uint32_t count;
};

// The spikes that can follow a partial occurrence whose last node is `node`.
__device__ matches matches_of(const list_problem& p, std::uint32_t node, const partial& one) {
    const std::uint32_t to = p.unit(one.candidate, node + 1);
    const interval_us step = p.steps[p.delays[std::uint64_t{one.candidate} * (p.size - 1) + node]];
    const std::int64_t time = time_of(p.trains, p.unit(one.candidate, node), one.at);
    const std::uint32_t first = first_after(p.trains, to, time + step.low);
    return {first, first_after(p.trains, to, time + step.high) - first};
}

// Lists all starts, candidate by candidate, from number `first` on.
__global__ void __launch_bounds__(threads)
    begin_list(const list_problem p, std::uint64_t first, std::uint32_t size,
               partial* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    std::uint32_t candidate = 0;
    for (std::uint32_t end = p.candidates; end - candidate > 1;) {
        const std::uint32_t middle = candidate + (end - candidate) / 2;
        if (p.starts_before[middle] <= first + i) {
            candidate = middle;
        } else {
            end = middle;
        }
    }
    const std::uint32_t start = p.trains.begin[p.unit(candidate, 0)] +
                                static_cast<std::uint32_t>(first + i - p.starts_before[candidate]);
    to[i] = {candidate, start, start};
}

__global__ void __launch_bounds__(threads)
    count_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                  std::uint32_t size, std::uint64_t* __restrict__ counts) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < size) counts[i] = matches_of(p, node, list[i]).count;
    if (i == size) counts[i] = 0;
}

__global__ void __launch_bounds__(threads)
    write_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                  std::uint32_t size, const std::uint64_t* __restrict__ places,
                  partial* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const partial one = list[i];
    const matches found = matches_of(p, node, one);
    for (std::uint32_t k = 0; k < found.count; ++k)
        to[places[i] + k] = {one.candidate, one.start, found.first + k};
}

// `total` keeps counting beyond `capacity`.
__global__ void __launch_bounds__(threads)
    append_matches(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
                   std::uint32_t size, std::uint64_t capacity,
                   unsigned long long* __restrict__ total, partial* __restrict__ to) {
    __shared__ unsigned long long in_block;
    __shared__ unsigned long long begin;
    if (threadIdx.x == 0) in_block = 0;
    __syncthreads();
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    partial one{};
    matches found{};
    unsigned long long place = 0;
    if (i < size) {
        one = list[i];
        found = matches_of(p, node, one);
        if (found.count > 0) place = atomicAdd(&in_block, std::uint64_t{found.count});
    }
    __syncthreads();
    if (threadIdx.x == 0 && in_block > 0) begin = atomicAdd(total, in_block);
    __syncthreads();
    for (std::uint32_t k = 0; k < found.count && begin + place + k < capacity; ++k)
        to[begin + place + k] = {one.candidate, one.start, found.first + k};
}

// Thread i has the slots from i * slots on; `most` is the largest number of slots that a thread
// needs.
__global__ void __launch_bounds__(threads)
    fill_slots(const list_problem p, std::uint32_t node, const partial* __restrict__ list,
               std::uint32_t size, std::uint32_t slots, std::uint32_t* __restrict__ most,
               partial* __restrict__ to, unsigned char* __restrict__ taken) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const partial one = list[i];
    const matches found = matches_of(p, node, one);
    if (found.count > slots) atomicMax(most, found.count);
    for (std::uint32_t k = 0; k < slots; ++k) {
        const bool is_taken = k < found.count;
        taken[i * slots + k] = is_taken;
        to[i * slots + k] =
            is_taken ? partial{one.candidate, one.start, found.first + k} : partial{};
    }
}

__device__ std::uint64_t with_candidate(std::uint32_t candidate, std::uint32_t spike) {
    return std::uint64_t{candidate} << 32 | spike;
}

__global__ void __launch_bounds__(threads)
    split_by_start(const partial* __restrict__ list, std::uint32_t size,
                   std::uint64_t* __restrict__ starts, std::uint32_t* __restrict__ ends) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    starts[i] = with_candidate(list[i].candidate, list[i].start);
    ends[i] = list[i].at;
}

__global__ void __launch_bounds__(threads)
    split_by_end(const partial* __restrict__ list, std::uint32_t size,
                 std::uint64_t* __restrict__ ends, std::uint32_t* __restrict__ starts) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    ends[i] = with_candidate(list[i].candidate, list[i].at);
    starts[i] = list[i].start;
}

// Moves the candidates from the ends to the starts.
__global__ void __launch_bounds__(threads)
    exchange(std::uint32_t size, const std::uint64_t* __restrict__ ends_of_candidates,
             const std::uint32_t* __restrict__ starts_alone, std::uint64_t* __restrict__ starts,
             std::uint32_t* __restrict__ ends) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= size) return;
    const std::uint64_t end = ends_of_candidates[i];
    starts[i] = end & ~std::uint64_t{UINT32_MAX} | starts_alone[i];
    ends[i] = static_cast<std::uint32_t>(end);
}

struct larger {
    __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
        return a < b ? b : a;
    }
};

// Occurrences ordered by candidate. Within a candidate, `starts` ascend, and the first of all
// occurrences from a given start on is also the first to end.
struct schedule_problem {
    const std::uint64_t* starts;  // with the candidate in the upper half
    const std::uint32_t* ends;
    std::uint32_t size;

    __device__ std::uint32_t candidate(std::uint32_t i) const {
        return static_cast<std::uint32_t>(starts[i] >> 32);
    }
};

// Returns the candidate's first occurrence from `begin` on that starts at spike `start` or later.
__device__ std::uint32_t first_from(const schedule_problem& s, std::uint32_t begin,
                                    std::uint32_t candidate, std::uint32_t start) {
    const std::uint64_t wanted = with_candidate(candidate, start);
    std::uint32_t end = s.size;
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (s.starts[middle] < wanted) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin < s.size && s.candidate(begin) == candidate ? begin : none;
}

// Returns the first spike at which an occurrence may start after one that ended at spike `end`.
__device__ std::uint32_t first_start_after(const list_problem& p, std::uint32_t candidate,
                                           std::uint32_t end) {
    const std::uint32_t unit = p.unit(candidate, 0);
    if (p.by_order) {
        const std::uint32_t position = p.trains.position[end];
        return first_late(p.trains, unit,
                          [&](std::uint32_t spike) { return p.trains.position[spike] > position; });
    }
    return first_after(p.trains, unit, time_of(p.trains, p.unit(candidate, p.size - 1), end));
}

__global__ void __launch_bounds__(threads)
    find_next(const list_problem p, const schedule_problem s, std::uint32_t* __restrict__ next) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= s.size) return;
    const auto one = static_cast<std::uint32_t>(i);
    const std::uint32_t candidate = s.candidate(one);
    next[i] = first_from(s, one + 1, candidate, first_start_after(p, candidate, s.ends[one]));
}

constexpr unsigned tile = 4 * threads;

// For each occurrence: how many are taken before the walk leaves the tile, and where it leads.
__global__ void __launch_bounds__(threads)
    make_tables(std::uint32_t size, const std::uint32_t* __restrict__ next,
                std::uint32_t* __restrict__ exits, std::uint32_t* __restrict__ taken) {
    __shared__ std::uint32_t to[tile];
    __shared__ std::uint32_t count[tile];
    const std::uint32_t begin = blockIdx.x * tile;
    const std::uint32_t here = min(tile, size - begin);
    for (unsigned i = threadIdx.x; i < tile; i += threads) {
        to[i] = i < here ? next[begin + i] : none;
        count[i] = 1;
    }
    __syncthreads();
    for (unsigned reach = 1; reach < tile; reach *= 2) {
        std::uint32_t further[tile / threads];
        std::uint32_t more[tile / threads];
#pragma unroll
        for (unsigned k = 0; k < tile / threads; ++k) {
            const std::uint32_t at = to[threadIdx.x + k * threads];
            const bool inside = at != none && at - begin < here;
            further[k] = inside ? to[at - begin] : at;
            more[k] = inside ? count[at - begin] : 0;
        }
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < tile / threads; ++k) {
            to[threadIdx.x + k * threads] = further[k];
            count[threadIdx.x + k * threads] += more[k];
        }
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < here; i += threads) {
        exits[begin + i] = to[i];
        taken[begin + i] = count[i];
    }
}

// `last_end`: the end of the last occurrence taken in earlier lists.
__global__ void __launch_bounds__(threads)
    schedule(const list_problem p, const schedule_problem s, std::uint32_t first_candidate,
             std::uint32_t candidates, const std::uint32_t* __restrict__ next,
             const std::uint32_t* __restrict__ exits, const std::uint32_t* __restrict__ taken,
             std::uint64_t* __restrict__ counts, std::uint32_t* __restrict__ last_end) {
    const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
    if (i >= candidates) return;
    const std::uint32_t candidate = first_candidate + i;
    const std::uint32_t before = last_end[candidate];
    std::uint32_t at =
        first_from(s, 0, candidate, before == none ? 0 : first_start_after(p, candidate, before));
    if (at == none) return;
    std::uint64_t count = 0;
    std::uint32_t last = at;
    while (at != none) {
        count += taken[at];
        last = at;
        at = exits[at];
    }
    while (next[last] != none) last = next[last];
    counts[candidate] += count;
    last_end[candidate] = s.ends[last];
}

struct list {
    device::buffer<partial> of{};
    std::uint32_t size = 0;
};

class occurrence_counter {
public:
    occurrence_counter(const device_problem& problem, const candidate_set& candidates,
                       compaction_method how, const occurrence_room& room)
        : problem_(problem),
          how_(how),
          room_(room),
          units_(plain(candidates.units), on_),
          delays_(candidates.delays, on_),
          counts_(candidates.count(), on_),
          last_end_(candidates.count(), on_) {
        // Bounds beyond the length of the recording are reduced to it, so that sums stay in range.
        const auto length = static_cast<std::int64_t>(problem.data.length_us());
        std::vector<interval_us> steps;
        steps.reserve(problem.intervals.size());
        for (const interval_us& one : problem.intervals)
            steps.push_back({std::min(one.low, length), std::min(one.high, length + 1)});
        steps_ = {steps, on_};
        starts_before_.reserve(candidates.count() + 1);
        starts_before_.push_back(0);
        const auto begins = problem.data.train_begins();
        for (std::size_t c = 0; c < candidates.count(); ++c) {
            const std::uint32_t unit = index(candidates.units_of(c)[0]);
            starts_before_.push_back(starts_before_.back() + begins[unit + 1] - begins[unit]);
        }
        starts_before_there_ = {starts_before_, on_};
        counts_.fill(0);
        last_end_.fill(0xff);
        p_ = {.trains = problem.data.trains(),
              .units = units_.data(),
              .delays = delays_.data(),
              .steps = steps_.data(),
              .starts_before = starts_before_there_.data(),
              .candidates = static_cast<std::uint32_t>(candidates.count()),
              .size = static_cast<std::uint32_t>(candidates.size),
              .by_order = problem.ties == tie_rule::order};
    }

    count_result count() {
        std::uint64_t together = std::max<std::uint64_t>(room_.most_occurrences / 4, 1);
        for (std::uint64_t first = 0; first < starts_before_.back();) {
            throw_if_stopped(problem_.run.stop);
            const auto now =
                static_cast<std::uint32_t>(std::min(together, starts_before_.back() - first));
            if (count_from(first, now)) {
                first += now;
                continue;
            }
            if (now == 1) throw_no_room_for_occurrences(problem_.ordinal, room_.most_occurrences);
            together = now / 2;
        }
        return {counts_.downloaded(), 0, kernel_seconds_};
    }

private:
    static unsigned blocks_for(std::uint64_t all) {
        return static_cast<unsigned>(pieces_of(all, threads));
    }
    template <class Launch>
    void timed(const Launch& launch) {
        watch_.start(on_);
        launch();
        device::check(cudaGetLastError());
        watch_.stop(on_);
        on_.wait();
        kernel_seconds_ += watch_.seconds();
        throw_if_stopped(problem_.run.stop);
    }
    // CUB returns the space that it needs if it is called with a null pointer.
    template <class Call>
    void with_space(const Call& call) {
        std::size_t bytes = 0;
        device::check(call(nullptr, bytes));
        const device::buffer<unsigned char> space(std::max<std::size_t>(bytes, 1), on_);
        timed([&] { device::check(call(space.data(), bytes)); });
    }

    bool count_from(std::uint64_t first, std::uint32_t starts);
    std::optional<list> extended(const list& from, std::uint32_t node);
    std::optional<list> by_atomics(const list& from, std::uint32_t node);
    std::optional<list> by_select(const list& from, std::uint32_t node);
    void append(list& to, const list& more) {
        if (more.size == 0) return;
        device::check(cudaMemcpyAsync(to.of.data() + to.size, more.of.data(),
                                      more.size * sizeof(partial), cudaMemcpyDeviceToDevice,
                                      on_.get()));
        to.size += more.size;
    }
    list selected(const partial* from, std::uint32_t size, std::uint32_t node,
                  std::uint32_t& slots);
    std::optional<list> by_counts(const list& from, std::uint32_t node);
    void schedule_ordered(const list& complete, std::uint64_t first, std::uint32_t starts);
    void schedule_sorted(list complete, std::uint64_t first, std::uint32_t starts);
    void schedule_list(const schedule_problem& s, std::uint64_t first, std::uint32_t starts);

    const device_problem& problem_;
    compaction_method how_;
    occurrence_room room_;
    std::vector<std::uint64_t> starts_before_;
    device::stream on_;
    device::buffer<std::uint32_t> units_;
    device::buffer<std::uint32_t> delays_;
    device::buffer<interval_us> steps_;
    device::buffer<std::uint64_t> starts_before_there_;
    device::buffer<std::uint64_t> counts_;
    device::buffer<std::uint32_t> last_end_;
    list_problem p_{};
    device::stopwatch watch_;
    double kernel_seconds_ = 0;
};

// Returns false if the occurrences from these starts do not fit.
bool occurrence_counter::count_from(std::uint64_t first, std::uint32_t starts) {
    list now{{starts, on_}, starts};
    timed([&] {
        begin_list<<<blocks_for(starts), threads, 0, on_.get()>>>(p_, first, starts, now.of.data());
    });
    for (std::uint32_t node = 0; node + 1 < p_.size && now.size > 0; ++node) {
        std::optional<list> next = extended(now, node);
        if (!next) return false;
        now = std::move(*next);
    }
    if (now.size == 0) return true;
    if (how_ == compaction_method::atomic) {
        schedule_sorted(std::move(now), first, starts);
    } else {
        schedule_ordered(now, first, starts);
    }
    return true;
}

std::optional<list> occurrence_counter::extended(const list& from, std::uint32_t node) {
    if (how_ == compaction_method::atomic) return by_atomics(from, node);
    return how_ == compaction_method::select ? by_select(from, node) : by_counts(from, node);
}

std::optional<list> occurrence_counter::by_atomics(const list& from, std::uint32_t node) {
    const device::buffer<unsigned long long> total(1, on_);
    std::uint64_t capacity =
        std::min(room_.most_occurrences, std::uint64_t{from.size} * room_.first_ways);
    for (;;) {
        list to{{capacity, on_}};
        device::check(cudaMemsetAsync(total.data(), 0, sizeof(unsigned long long), on_.get()));
        timed([&] {
            append_matches<<<blocks_for(from.size), threads, 0, on_.get()>>>(
                p_, node, from.of.data(), from.size, capacity, total.data(), to.of.data());
        });
        const std::uint64_t needed = total.downloaded().front();
        if (needed > room_.most_occurrences) return std::nullopt;
        if (needed <= capacity) {
            to.size = static_cast<std::uint32_t>(needed);
            return to;
        }
        capacity = needed;
    }
}

std::optional<list> occurrence_counter::by_select(const list& from, std::uint32_t node) {
    std::uint32_t slots = room_.first_ways;
    std::vector<list> pieces;
    std::uint64_t all = 0;
    for (std::uint32_t begin = 0; begin < from.size;) {
        const auto size = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(room_.most_occurrences / slots, 1, from.size - begin));
        const std::uint32_t slots_before = slots;
        list piece = selected(from.of.data() + begin, size, node, slots);
        if (slots != slots_before) continue;
        begin += size;
        all += piece.size;
        if (all > room_.most_occurrences) return std::nullopt;
        if (size == from.size) return piece;
        // The copy drops the memory of slots that were not taken.
        list& kept = pieces.emplace_back(list{{piece.size, on_}});
        append(kept, piece);
    }
    list whole{{all, on_}};
    for (const list& piece : pieces) append(whole, piece);
    return whole;
}

// Extends `size` partial occurrences. If a thread needs more than `slots`, sets `slots` to the
// number needed and returns an empty list.
list occurrence_counter::selected(const partial* from, std::uint32_t size, std::uint32_t node,
                                  std::uint32_t& slots) {
    const std::uint64_t all = std::uint64_t{size} * slots;
    const device::buffer<partial> filled(all, on_);
    const device::buffer<unsigned char> taken(all, on_);
    device::buffer<std::uint32_t> most(1, on_);
    most.fill(0);
    timed([&] {
        fill_slots<<<blocks_for(size), threads, 0, on_.get()>>>(
            p_, node, from, size, slots, most.data(), filled.data(), taken.data());
    });
    const std::uint32_t needed = most.downloaded().front();
    if (needed > slots) {
        slots = needed;
        return {};
    }
    list to{{all, on_}};
    const device::buffer<std::uint64_t> count(1, on_);
    with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(space, bytes, filled.data(), taken.data(), to.of.data(),
                                          count.data(), static_cast<std::int64_t>(all), on_.get());
    });
    to.size = static_cast<std::uint32_t>(count.downloaded().front());
    return to;
}

std::optional<list> occurrence_counter::by_counts(const list& from, std::uint32_t node) {
    const device::buffer<std::uint64_t> counts(std::size_t{from.size} + 1, on_);
    const device::buffer<std::uint64_t> places(std::size_t{from.size} + 1, on_);
    timed([&] {
        count_matches<<<blocks_for(counts.size()), threads, 0, on_.get()>>>(
            p_, node, from.of.data(), from.size, counts.data());
    });
    with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(space, bytes, counts.data(), places.data(),
                                             static_cast<std::int64_t>(counts.size()), on_.get());
    });
    std::vector<std::uint64_t> needed(1);
    places.download(needed, from.size);
    on_.wait();
    if (needed.front() > room_.most_occurrences) return std::nullopt;
    list to{{needed.front(), on_}, static_cast<std::uint32_t>(needed.front())};
    timed([&] {
        write_matches<<<blocks_for(from.size), threads, 0, on_.get()>>>(
            p_, node, from.of.data(), from.size, places.data(), to.of.data());
    });
    return to;
}

void occurrence_counter::schedule_ordered(const list& complete, std::uint64_t first,
                                          std::uint32_t starts) {
    const device::buffer<std::uint64_t> begins(complete.size, on_);
    const device::buffer<std::uint32_t> ends(complete.size, on_);
    timed([&] {
        split_by_start<<<blocks_for(complete.size), threads, 0, on_.get()>>>(
            complete.of.data(), complete.size, begins.data(), ends.data());
    });
    schedule_list({begins.data(), ends.data(), complete.size}, first, starts);
}

void occurrence_counter::schedule_sorted(list complete, std::uint64_t first, std::uint32_t starts) {
    const std::uint32_t size = complete.size;
    const device::buffer<std::uint64_t> keys(size, on_);
    const device::buffer<std::uint64_t> sorted_keys(size, on_);
    const device::buffer<std::uint32_t> values(size, on_);
    const device::buffer<std::uint32_t> sorted_values(size, on_);
    timed([&] {
        split_by_end<<<blocks_for(size), threads, 0, on_.get()>>>(complete.of.data(), size,
                                                                  keys.data(), values.data());
    });
    complete = {};
    const int bits = 32 + static_cast<int>(std::bit_width(p_.candidates));
    with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(space, bytes, keys.data(), sorted_keys.data(),
                                               values.data(), sorted_values.data(), size, 0, bits,
                                               on_.get());
    });
    timed([&] {
        exchange<<<blocks_for(size), threads, 0, on_.get()>>>(
            size, sorted_keys.data(), sorted_values.data(), keys.data(), values.data());
    });
    with_space([&](void* space, std::size_t& bytes) {
        return cub::DeviceScan::InclusiveScan(space, bytes, keys.data(), sorted_keys.data(),
                                              larger{}, size, on_.get());
    });
    schedule_list({sorted_keys.data(), values.data(), size}, first, starts);
}

void occurrence_counter::schedule_list(const schedule_problem& s, std::uint64_t first,
                                       std::uint32_t starts) {
    const auto candidate_of = [&](std::uint64_t start) {
        return static_cast<std::uint32_t>(
            std::upper_bound(starts_before_.begin(), starts_before_.end(), start) -
            starts_before_.begin() - 1);
    };
    const std::uint32_t first_candidate = candidate_of(first);
    const std::uint32_t candidates = candidate_of(first + starts - 1) - first_candidate + 1;
    const device::buffer<std::uint32_t> next(s.size, on_);
    const device::buffer<std::uint32_t> exits(s.size, on_);
    const device::buffer<std::uint32_t> taken(s.size, on_);
    timed([&] {
        find_next<<<blocks_for(s.size), threads, 0, on_.get()>>>(p_, s, next.data());
        make_tables<<<static_cast<unsigned>(pieces_of(s.size, tile)), threads, 0, on_.get()>>>(
            s.size, next.data(), exits.data(), taken.data());
        schedule<<<blocks_for(candidates), threads, 0, on_.get()>>>(
            p_, s, first_candidate, candidates, next.data(), exits.data(), taken.data(),
            counts_.data(), last_end_.data());
    });
}

}  // namespace

count_result count_by_occurrences_within(const device_problem& problem,
                                         const candidate_set& candidates,
                                         const occurrence_room& room) {
    if (candidates.count() == 0) return {};
    const device::scoped_device scope(problem.ordinal);
    return occurrence_counter(problem, candidates, problem.compaction, room).count();
}

count_result count_by_occurrences_on_device(const device_problem& problem,
                                            const candidate_set& candidates, std::uint64_t) {
    return count_by_occurrences_within(problem, candidates,
                                       room_for_occurrences(device::limits_of(problem.ordinal)));
}

}  // namespace spikeweave::episodes
