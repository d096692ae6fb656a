// Spikes in the form that kernels read: uploaded in time order and sorted into trains on the
// device.
//
//   work per thread   one spike, or one binary search
//   shared memory     used by CUB's radix sort
//   pays off          always: a stream is uploaded once and used at every level

#include <algorithm>
#include <array>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "device/cuda.hpp"
#include "mine/episodes/devices/cuda/event_upload.hpp"
#include "mine/episodes/devices/plan.hpp"
#include "mine/episodes/devices/resident_stream.hpp"
#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {
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

// Returns the index of the first of the ascending values in [begin, end) that is at least `least`.
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

// Finds the first spike of each unit in each era; positions ascend within a train.
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

__global__ void __launch_bounds__(threads)
    widen(std::uint32_t size, const std::uint16_t* __restrict__ from,
          std::uint32_t* __restrict__ to) {
    const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < size) to[i] = from[i];
}

// The input of a stream: spikes in the order of time, or at least each unit's, if all are of one
// era.
struct event_source {
    std::span<const std::int64_t> times;
    std::span<const unit_id> unit_of;
    std::size_t units;
    std::int64_t origin_us;
    std::uint64_t length_us;
    bool in_order;
};

event_source source_of(const spike_sequence& all, const spike_range& which) {
    const auto times = all.times_us().subspan(which.begin, which.end - which.begin);
    const std::int64_t first = times.empty() ? 0 : times.front();
    return {times,
            all.units().subspan(which.begin, which.end - which.begin),
            all.unit_count(),
            first,
            times.empty()
                ? 0
                : static_cast<std::uint64_t>(times.back()) - static_cast<std::uint64_t>(first),
            true};
}

std::vector<std::uint32_t> first_of_eras(const event_source& from, std::uint32_t eras) {
    const auto& times = from.times;
    std::vector<std::uint32_t> firsts;
    firsts.reserve(std::size_t{eras} + 1);
    const auto origin = static_cast<std::uint64_t>(from.origin_us);
    firsts.push_back(0);
    for (std::uint64_t era = 1; era < eras; ++era) {
        const auto first = std::partition_point(times.begin(), times.end(), [&](std::int64_t t) {
            return static_cast<std::uint64_t>(t) - origin < era * era_us;
        });
        firsts.push_back(static_cast<std::uint32_t>(first - times.begin()));
    }
    firsts.push_back(static_cast<std::uint32_t>(times.size()));
    return firsts;
}

}  // namespace

// The states that upload together. A thread that holds `access` of a state may lock that of its
// group, never the other way around.
struct resident_stream::group {
    std::mutex access;
    std::vector<state*> members;
};

struct resident_stream::state {
    state(const event_source& spikes, int device, const execution& how, std::shared_ptr<group> with)
        : from(spikes),
          run(how),
          ordinal(device),
          eras(static_cast<std::uint32_t>(from.length_us / era_us) + 1),
          size(static_cast<std::uint32_t>(from.times.size())),
          units(static_cast<std::uint32_t>(from.units)),
          together(std::move(with)) {
        const std::lock_guard lock(together->access);
        together->members.push_back(this);
    }
    ~state() {
        const std::lock_guard lock(together->access);
        std::erase(together->members, this);
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    void need_events();
    event_buffers allocate_events();
    void finish_events(std::span<const std::uint32_t> first_of_era);
    void make_trains();
    void make_search();

    event_source from;
    execution run;
    int ordinal;
    std::uint32_t eras;
    std::uint32_t size;
    std::uint32_t units;
    std::shared_ptr<group> together;

    std::mutex access;
    device::stream on;
    bool has_events = false;  // members from here to era_begin are guarded by the group's `access`
    device::buffer<std::uint16_t> narrow_unit;
    device::buffer<std::uint32_t> time_low;
    device::buffer<std::uint32_t> unit;
    device::buffer<std::uint32_t> era_begin;
    bool has_trains = false;
    device::buffer<std::uint32_t> train_time_low;
    device::buffer<std::uint32_t> train_position;
    device::buffer<std::uint32_t> train_begin;
    device::buffer<std::uint32_t> train_era_begin;
    std::vector<std::uint32_t> train_begins;
    bool has_search = false;
    train_layout event_layout{};
    device::buffer<train_layout> search_layouts;
    device::buffer<std::uint32_t> search_buckets;
    device::buffer<std::uint64_t> search_begins;
    device::buffer<std::uint32_t> event_buckets;
};

event_buffers resident_stream::state::allocate_events() {
    const device::scoped_device scope(ordinal);
    time_low = {size, on};
    unit = {size, on};
    narrow_unit = {units <= most_narrow_units ? std::size_t{size} : 0, on};
    return {ordinal, &on, time_low.data(), narrow_unit.data(), unit.data()};
}

void resident_stream::state::finish_events(std::span<const std::uint32_t> first_of_era) {
    const device::scoped_device scope(ordinal);
    if (narrow_unit.size() > 0) {
        widen<<<blocks_for(size), threads, 0, on.get()>>>(size, narrow_unit.data(), unit.data());
        device::check(cudaGetLastError());
    }
    narrow_unit = {};
    era_begin = {first_of_era, on};
    on.wait();
    has_events = true;
}

void resident_stream::state::need_events() {
    const std::lock_guard lock(together->access);
    if (has_events) return;
    std::vector<event_buffers> buffers;
    buffers.reserve(together->members.size());
    for (state* member : together->members) buffers.push_back(member->allocate_events());
    upload_events(from.times, from.unit_of, from.origin_us, buffers, run);
    const std::vector<std::uint32_t> firsts = first_of_eras(from, eras);
    for (state* member : together->members) member->finish_events(firsts);
}

void resident_stream::state::make_trains() {
    if (has_trains) return;
    need_events();
    train_position = {size, on};
    train_time_low = {size, on};
    train_begin = {std::size_t{units} + 1, on};
    train_era_begin = {std::size_t{units} * (eras + 1), on};
    device::buffer<std::uint32_t> sorted(size, on);
    device::buffer<std::uint32_t> numbers(size, on);
    if (size > 0) {
        number_all<<<blocks_for(size), threads, 0, on.get()>>>(size, numbers.data());
        device::check(cudaGetLastError());
        // The sort is stable, so each train stays in time order.
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

void resident_stream::state::make_search() {
    if (has_search) return;
    make_trains();
    const auto last = static_cast<std::uint32_t>(from.length_us);
    std::vector<train_layout> layouts;
    layouts.reserve(units);
    std::uint32_t buckets = 0;
    for (std::uint32_t u = 0; u < units; ++u) {
        layouts.push_back(
            layout_of_train(train_begins[u], train_begins[u + 1] - train_begins[u], buckets, last));
        buckets += layouts.back().bucket_count + 1;
    }
    search_layouts = {layouts, on};
    search_begins = {std::vector<std::uint64_t>(train_begins.begin(), train_begins.end()), on};
    search_buckets = {buckets, on};
    fill_buckets(train_time_low.data(), search_layouts.data(), units, size, search_buckets.data(),
                 on);
    if (from.in_order) {
        event_layout = layout_of_train(0, size, 0, last);
        event_buckets = {std::size_t{event_layout.bucket_count} + 1, on};
        const device::buffer<train_layout> whole(std::array{event_layout}, on);
        fill_buckets(time_low.data(), whole.data(), 1, size, event_buckets.data(), on);
    }
    on.wait();
    has_search = true;
}

resident_stream::resident_stream(std::unique_ptr<state> made) : state_(std::move(made)) {}

resident_stream::resident_stream(const spike_sequence& spikes, int ordinal, const execution& run)
    : resident_stream(spikes, {0, spikes.size()}, ordinal, run) {}

resident_stream::resident_stream(const spike_sequence& spikes, spike_range which, int ordinal,
                                 const execution& run) {
    const device::scoped_device on(ordinal);
    state_ =
        std::make_unique<state>(source_of(spikes, which), ordinal, run, std::make_shared<group>());
}

resident_stream::resident_stream(const sequences_side_by_side& spikes, int ordinal,
                                 const execution& run) {
    const device::scoped_device on(ordinal);
    state_ = std::make_unique<state>(event_source{spikes.times_us, spikes.unit_of, spikes.units,
                                                  spikes.origin_us, spikes.length_us, false},
                                     ordinal, run, std::make_shared<group>());
}

std::vector<std::unique_ptr<resident_stream>> resident_stream::on_each(
    const spike_sequence& spikes, std::span<const int> ordinals, const execution& run) {
    const auto together = std::make_shared<group>();
    std::vector<std::unique_ptr<resident_stream>> all;
    all.reserve(ordinals.size());
    for (const int ordinal : ordinals) {
        const device::scoped_device on(ordinal);
        auto made =
            std::make_unique<state>(source_of(spikes, {0, spikes.size()}), ordinal, run, together);
        all.push_back(std::unique_ptr<resident_stream>(new resident_stream(std::move(made))));
    }
    return all;
}

int resident_stream::ordinal() const {
    return state_->ordinal;
}

std::uint64_t resident_stream::length_us() const {
    return state_->from.length_us;
}

resident_events resident_stream::events() const {
    const std::lock_guard lock(state_->access);
    const device::scoped_device on(state_->ordinal);
    state_->need_events();
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

resident_search resident_stream::search() const {
    const std::lock_guard lock(state_->access);
    const device::scoped_device on(state_->ordinal);
    state_->make_search();
    return {state_->search_layouts.data(), state_->search_buckets.data(),
            state_->search_begins.data(), state_->event_layout, state_->event_buckets.data()};
}

std::span<const std::uint32_t> resident_stream::train_begins() const {
    static_cast<void>(trains());
    return state_->train_begins;
}

}  // namespace spikeweave::episodes
