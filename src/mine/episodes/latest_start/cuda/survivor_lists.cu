// Copies chosen survivor lists, and fills the search tables of trains.

#include <algorithm>

#include "mine/episodes/latest_start/cuda/survivor_lists.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::uint32_t copy_threads = 256;

struct choose_problem {
    list_view lists;
    const std::uint32_t* which;
    const std::uint64_t* out_begins;
    std::uint32_t* out_ends;
    std::uint32_t* out_starts;
};

// x: lists, y: parts of each
__global__ void __launch_bounds__(copy_threads) copy_lists(const choose_problem p) {
    const std::uint64_t from = p.lists.begins[p.which[blockIdx.x]];
    const std::uint64_t to = p.out_begins[blockIdx.x];
    const std::uint64_t size = p.out_begins[blockIdx.x + 1] - to;
    for (std::uint64_t i = blockIdx.y * copy_threads + threadIdx.x; i < size;
         i += gridDim.y * copy_threads) {
        p.out_ends[to + i] = p.lists.ends[from + i];
        p.out_starts[to + i] = p.lists.starts[from + i];
    }
}

// x: trains, y: parts of each
__global__ void __launch_bounds__(copy_threads)
    fill_bucket_tables(const std::uint32_t* __restrict__ times,
                       const train_layout* __restrict__ trains,
                       std::uint32_t* __restrict__ buckets) {
    const train_layout train = trains[blockIdx.x];
    const std::uint32_t* const mine = times + train.begin;
    std::uint32_t* const out = buckets + train.buckets_begin;
    const std::uint64_t stride = std::uint64_t{gridDim.y} * copy_threads;
    // Spike i is the first one of every bucket after that of the previous spike, up to its own; the
    // end of the train belongs to all buckets that remain.
    for (std::uint64_t i = blockIdx.y * copy_threads + threadIdx.x; i <= train.size; i += stride) {
        const std::uint32_t begin = i == 0 ? 0 : (mine[i - 1] >> train.shift) + 1;
        const std::uint32_t end =
            i == train.size ? train.bucket_count + 1 : (mine[i] >> train.shift) + 1;
        for (std::uint32_t b = begin; b < end; ++b) out[b] = static_cast<std::uint32_t>(i);
    }
}

std::uint32_t shares(std::uint64_t items, std::uint32_t lists) {
    const std::uint64_t each = items / std::max<std::uint64_t>(1, lists);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each / 4096, 1, 256));
}

}  // namespace

survivor_lists chosen_lists(const list_view& lists, std::span<const std::uint64_t> begins,
                            std::span<const std::uint32_t> which, const device::stream& on) {
    std::vector<std::uint64_t> out_begins{0};
    out_begins.reserve(which.size() + 1);
    for (const std::uint32_t list : which)
        out_begins.push_back(out_begins.back() + begins[list + 1] - begins[list]);
    const auto count = static_cast<std::uint32_t>(which.size());
    survivor_lists out(count, out_begins.back(), on);
    out.begins.upload(out_begins);
    if (out_begins.back() > 0) {
        const device::buffer<std::uint32_t> lists_there(which, on);
        const dim3 grid(count, shares(out_begins.back(), count));
        copy_lists<<<grid, copy_threads, 0, on.get()>>>(
            {lists, lists_there.data(), out.begins.data(), out.ends.data(), out.starts.data()});
        device::check(cudaGetLastError());
    }
    on.wait();
    return out;
}

void fill_buckets(const std::uint32_t* times, const train_layout* trains, std::uint32_t train_count,
                  std::uint64_t spikes, std::uint32_t* buckets, const device::stream& on) {
    if (train_count == 0) return;
    const dim3 grid(train_count, shares(spikes, train_count));
    fill_bucket_tables<<<grid, copy_threads, 0, on.get()>>>(times, trains, buckets);
    device::check(cudaGetLastError());
}

}  // namespace spikeweave::episodes
