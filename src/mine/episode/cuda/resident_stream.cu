// Spikes as kernels want them: uploaded in time order, sorted into trains on the device.
//
//   work per thread   one spike, or one binary search
//   shared memory     what CUB's radix sort takes
//   pays off          always: a stream is uploaded once and counted on at every level

#include <algorithm>
#include <array>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <mutex>
#include <optional>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episode/cuda/plan.hpp"
#include "mine/episode/cuda/resident_stream.hpp"

namespace synfire::episodes {
namespace {

constexpr std::uint64_t era_us = std::uint64_t{1} << 32;
constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads) number_all(std::uint32_t size, std::uint32_t* to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < size) to[i] = static_cast<std::uint32_t>(i);
}

__global__ void __launch_bounds__(threads)
    gather(std::uint32_t size, const std::uint32_t* __restrict__ from,
           const std::uint32_t* __restrict__ which, std::uint32_t* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < size) to[i] = from[which[i]];
}

// Of ascending values in [begin, end) the first that is at least `least`.
__device__ std::uint32_t lower_bound(const std::uint32_t* values, std::uint32_t begin,
                                     std::uint32_t end, std::uint32_t least) {
    while (begin < end) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (values[middle] < least) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

__global__ void __launch_bounds__(threads)
    find_units(std::uint32_t size, std::uint32_t units, const std::uint32_t* __restrict__ sorted,
               std::uint32_t* __restrict__ begin) {
    const std::uint32_t unit = blockIdx.x * threads + threadIdx.x;
    if (unit <= units) begin[unit] = lower_bound(sorted, 0, size, unit);
}

// Where each unit's spikes of each era begin: positions ascend within a train.
__global__ void __launch_bounds__(threads)
    find_eras(std::uint32_t units, std::uint32_t eras, const std::uint32_t* __restrict__ position,
              const std::uint32_t* __restrict__ begin,
              const std::uint32_t* __restrict__ first_of_era, std::uint32_t* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= std::uint64_t{units} * (eras + 1)) return;
    const auto unit = static_cast<std::uint32_t>(i / (eras + 1));
    const auto era = static_cast<std::uint32_t>(i % (eras + 1));
    to[i] = lower_bound(position, begin[unit], begin[unit + 1], first_of_era[era]);
}

unsigned blocks_for(std::uint64_t all) {
    return static_cast<unsigned>(pieces_of(all, threads));
}

// Fills one piece while the one before it is copied. `fill(at, to)` writes the values from `at` on.
template <class Fill>
void upload_in_pieces(device::buffer<std::uint32_t>& to, const device::stream& on,
                      const Fill& fill) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    if (to.size() <= piece) {
        // Page-locking would take longer than the copy.
        std::vector<std::uint32_t> values(to.size());
        fill(0, std::span{values});
        to.upload(values);
        on.wait();
        return;
    }
    const std::array<device::host_buffer<std::uint32_t>, 2> halves{
        device::host_buffer<std::uint32_t>(piece), device::host_buffer<std::uint32_t>(piece)};
    const std::array<device::event, 2> copied;
    for (std::size_t at = 0, i = 0; at < to.size(); at += piece, ++i) {
        const std::size_t half = i % 2;
        if (i >= 2) copied[half].wait();
        const auto values = halves[half].span().first(std::min(piece, to.size() - at));
        fill(at, values);
        to.upload(values, at);
        copied[half].record(on);
    }
    on.wait();
}

}  // namespace

struct resident_stream::state {
    state(const spike_sequence& all, int device)
        : spikes(all),
          ordinal(device),
          length_us(all.empty() ? 0
                                : static_cast<std::uint64_t>(all.times_us().back()) -
                                      static_cast<std::uint64_t>(all.times_us().front())),
          eras(static_cast<std::uint32_t>(length_us / era_us) + 1),
          size(static_cast<std::uint32_t>(all.size())),
          units(static_cast<std::uint32_t>(all.unit_count())) {}

    void upload_events();
    void make_trains();

    const spike_sequence& spikes;
    int ordinal;
    std::uint64_t length_us;
    std::uint32_t eras;
    std::uint32_t size;
    std::uint32_t units;

    std::mutex access;
    device::stream on;
    bool has_events = false;
    bool has_trains = false;
    device::buffer<std::uint32_t> time_low;
    device::buffer<std::uint32_t> unit;
    device::buffer<std::uint32_t> era_begin;
    device::buffer<std::uint32_t> train_time_low;
    device::buffer<std::uint32_t> train_position;
    device::buffer<std::uint32_t> train_begin;
    device::buffer<std::uint32_t> train_era_begin;
    std::vector<std::uint32_t> train_begins;
};

void resident_stream::state::upload_events() {
    if (has_events) return;
    const auto times = spikes.times_us();
    const std::uint64_t origin = times.empty() ? 0 : static_cast<std::uint64_t>(times.front());
    time_low = {size, on};
    upload_in_pieces(time_low, on, [&](std::size_t at, std::span<std::uint32_t> to) {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(times[at + i]) - origin);
    });
    unit = {size, on};
    upload_in_pieces(unit, on, [&](std::size_t at, std::span<std::uint32_t> to) {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = static_cast<std::uint32_t>(spikes.units()[at + i]);
    });
    std::vector<std::uint32_t> firsts;
    firsts.reserve(eras + 1);
    for (std::uint64_t era = 0; era < eras; ++era) {
        const auto first = std::partition_point(times.begin(), times.end(), [&](std::int64_t t) {
            return static_cast<std::uint64_t>(t) - origin < era * era_us;
        });
        firsts.push_back(static_cast<std::uint32_t>(first - times.begin()));
    }
    firsts.push_back(size);
    era_begin = {firsts, on};
    on.wait();
    has_events = true;
}

void resident_stream::state::make_trains() {
    if (has_trains) return;
    upload_events();
    train_position = {size, on};
    train_time_low = {size, on};
    train_begin = {std::size_t{units} + 1, on};
    train_era_begin = {std::size_t{units} * (eras + 1), on};
    device::buffer<std::uint32_t> sorted(size, on);
    device::buffer<std::uint32_t> numbers(size, on);
    if (size > 0) {
        number_all<<<blocks_for(size), threads, 0, on.get()>>>(size, numbers.data());
        device::check(cudaGetLastError());
        // Stable, so that each train stays in the order of time.
        const int bits = std::max(1, static_cast<int>(std::bit_width(units - 1)));
        std::size_t bytes = 0;
        const auto sort = [&](void* space) {
            device::check(cub::DeviceRadixSort::SortPairs(space, bytes, unit.data(), sorted.data(),
                                                          numbers.data(), train_position.data(),
                                                          size, 0, bits, on.get()));
        };
        sort(nullptr);
        const device::buffer<unsigned char> space(bytes, on);
        sort(space.data());
        gather<<<blocks_for(size), threads, 0, on.get()>>>(
            size, time_low.data(), train_position.data(), train_time_low.data());
        device::check(cudaGetLastError());
    }
    find_units<<<blocks_for(std::uint64_t{units} + 1), threads, 0, on.get()>>>(
        size, units, sorted.data(), train_begin.data());
    device::check(cudaGetLastError());
    if (units > 0) {
        find_eras<<<blocks_for(std::uint64_t{units} * (eras + 1)), threads, 0, on.get()>>>(
            units, eras, train_position.data(), train_begin.data(), era_begin.data(),
            train_era_begin.data());
        device::check(cudaGetLastError());
    }
    train_begins = train_begin.downloaded();
    has_trains = true;
}

resident_stream::resident_stream(const spike_sequence& spikes, int ordinal) {
    const device::scoped_device on(ordinal);
    state_ = std::make_unique<state>(spikes, ordinal);
}

resident_stream::~resident_stream() = default;

int resident_stream::ordinal() const {
    return state_->ordinal;
}

std::uint64_t resident_stream::length_us() const {
    return state_->length_us;
}

resident_events resident_stream::events() const {
    const std::lock_guard lock(state_->access);
    const device::scoped_device on(state_->ordinal);
    state_->upload_events();
    return {state_->time_low.data(), state_->unit.data(), state_->era_begin.data(), state_->eras,
            state_->size};
}

resident_trains resident_stream::trains() const {
    const std::lock_guard lock(state_->access);
    const device::scoped_device on(state_->ordinal);
    state_->make_trains();
    return {state_->train_time_low.data(),
            state_->train_position.data(),
            state_->train_begin.data(),
            state_->train_era_begin.data(),
            state_->eras,
            state_->units,
            state_->size};
}

std::span<const std::uint32_t> resident_stream::train_begins() const {
    static_cast<void>(trains());
    return state_->train_begins;
}

}  // namespace synfire::episodes
