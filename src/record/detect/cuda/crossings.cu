// Lists the samples beyond the weak threshold, in order.
//
//   work per thread   some samples: CUB selects the positions of those that cross
//   shared memory     used by CUB
//   pays off          always: a few percent of the samples remain to be copied and joined

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_select.cuh>
#include <limits>

#include "record/detect/cuda/kernels.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::record {
namespace {

constexpr unsigned threads = 256;

__global__ void __launch_bounds__(threads)
    note(const crossing_problem p, const std::uint32_t* __restrict__ samples, std::uint32_t count,
         std::uint32_t* __restrict__ frames, crossing* __restrict__ crossings) {
    const std::uint32_t i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const std::uint32_t sample = samples[i];
    frames[i] = sample / p.channels;
    crossings[i] = {sample % p.channels, p.height(sample)};
}

}  // namespace

piece_crossings find_crossings(const crossing_problem& problem, std::uint64_t samples,
                               const device::stream& on) {
    if (samples > std::numeric_limits<std::uint32_t>::max())
        throw invalid_argument("a block of too many samples");
    const device::buffer<std::uint32_t> places(samples, on);
    const device::buffer<std::uint32_t> size(1, on);
    const auto select = [&](void* space, std::size_t& bytes) {
        return cub::DeviceSelect::If(space, bytes, thrust::counting_iterator<std::uint32_t>(0),
                                     places.data(), size.data(), static_cast<std::int64_t>(samples),
                                     problem, on.get());
    };
    std::size_t bytes = 0;
    device::check(select(nullptr, bytes));
    const device::buffer<unsigned char> space(std::max<std::size_t>(bytes, 1), on);
    device::check(select(space.data(), bytes));

    const std::uint32_t count = size.downloaded().front();
    piece_crossings out;
    if (count == 0) return out;
    const device::buffer<std::uint32_t> frames(count, on);
    const device::buffer<crossing> crossings(count, on);
    note<<<(count + threads - 1) / threads, threads, 0, on.get()>>>(
        problem, places.data(), count, frames.data(), crossings.data());
    device::check(cudaGetLastError());
    out.frames.resize(count);
    out.crossings.resize(count);
    frames.download(out.frames);
    crossings.download(out.crossings);
    on.wait();
    return out;
}

}  // namespace spikeweave::record
