// Data that stay on the GPU between iterations: the virtual data, by spike for the M-step and by
// group for the E-step.

#include "sort/masked_gmm/cuda/resident_data.hpp"

#include "sort/masked_gmm/cuda/block_threads.cuh"

namespace spikeweave::masked_gmm {
namespace {

struct filling {
    device_rows rows;
    device_group group;
    const std::uint32_t* spikes;
    const std::uint32_t* columns;
    double* deltas;
    double* squares;
};

__device__ std::uint32_t position_in(const std::uint32_t* columns, std::uint32_t count,
                                     std::uint32_t column) {
    std::uint32_t low = 0;
    while (low + 1 < count) {
        const std::uint32_t middle = low + (count - low) / 2;
        if (columns[middle] <= column) {
            low = middle;
        } else {
            count = middle;
        }
    }
    return low;
}

// Uses one warp per spike.
__global__ void __launch_bounds__(threads) fill_group(const filling p) {
    const std::uint32_t s = blockIdx.x * (threads / warp) + threadIdx.x / warp;
    if (s >= p.group.spikes) return;
    const std::uint32_t n = p.spikes[p.group.first + s];
    const std::uint64_t end = p.rows.begin[n + 1];
    for (std::uint64_t e = p.rows.begin[n] + threadIdx.x % warp; e < end; e += warp) {
        const std::uint32_t i =
            position_in(p.columns + p.group.first_column, p.group.features, p.rows.columns[e]);
        const std::uint64_t at = p.group.values + std::uint64_t{i} * p.group.padded + s;
        const double delta = p.rows.deltas[e];
        p.deltas[at] = delta;
        p.squares[at] = delta * delta + p.rows.etas[e];
    }
}

}  // namespace

resident_data::resident_data(const sparse_data& data, std::uint32_t most_columns,
                             const device::stream& on)
    : features_(static_cast<std::uint32_t>(data.feature_count())),
      begin_(data.features->masks().offsets, on),
      columns_(data.features->masks().columns, on),
      masks_(data.features->masks().values, on),
      deltas_(data.delta, on),
      etas_(data.eta, on),
      noise_variance_(data.noise.variance, on) {
    fill_groups(data, most_columns, on);
}

device_rows resident_data::rows() const {
    return {features_,      begin_.data(), columns_.data(),       masks_.data(),
            deltas_.data(), etas_.data(),  noise_variance_.data()};
}

void resident_data::fill_groups(const sparse_data& data, std::uint32_t most_columns,
                                const device::stream& on) {
    std::vector<std::uint32_t> spikes;
    std::vector<std::uint32_t> columns;
    std::uint64_t values = 0;
    for (const spike_group& group : data.groups) {
        if (group.columns.size() > most_columns) {
            wide_.insert(wide_.end(), group.spikes.begin(), group.spikes.end());
            continue;
        }
        const auto count = static_cast<std::uint32_t>(group.spikes.size());
        const std::uint32_t padded = (count + tile_spikes - 1) / tile_spikes * tile_spikes;
        groups_.push_back({static_cast<std::uint32_t>(group.columns.size()), count, padded,
                           static_cast<std::uint32_t>(spikes.size()),
                           static_cast<std::uint32_t>(columns.size()), values});
        values += std::uint64_t{padded} * group.columns.size();
        spikes.insert(spikes.end(), group.spikes.begin(), group.spikes.end());
        columns.insert(columns.end(), group.columns.begin(), group.columns.end());
    }
    on_device_ = {groups_, on};
    group_spikes_ = {spikes, on};
    group_columns_ = {columns, on};
    group_deltas_ = {values, on};
    group_squares_ = {values, on};
    group_deltas_.fill(0);
    group_squares_.fill(0);
    for (const device_group& group : groups_) {
        constexpr unsigned at_once = threads / warp;
        fill_group<<<(group.spikes + at_once - 1) / at_once, threads, 0, on.get()>>>(
            {rows(), group, group_spikes_.data(), group_columns_.data(), group_deltas_.data(),
             group_squares_.data()});
        device::check(cudaGetLastError());
    }
    // The lists above must outlive the copies.
    on.wait();
}

}  // namespace spikeweave::masked_gmm
