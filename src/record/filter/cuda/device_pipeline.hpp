#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "device/cuda.hpp"
#include "device/cuda/lanes.hpp"
#include "record/filter/trace_recipe.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

/// The grid of the blocks of a recording that is filtered.
block_grid grid_of(const recording& from, const trace_recipe& recipe, std::size_t block_frames,
                   std::size_t apron);

/// Filters blocks on one device, whose `scoped_device` the caller holds. Not for several threads at
/// once.
class device_pipeline {
public:
    /// @param grid  has the largest apron that will be used
    /// @param together  largest number of blocks at once
    device_pipeline(const recording& from, const trace_recipe& recipe, const block_grid& grid,
                    std::size_t together);

    /// Reads blocks (by their numbers, ascending) and starts computing their traces on the stream,
    /// with an apron of the given number of frames.
    void filter(std::span<const std::size_t> blocks, std::size_t apron);
    /// The result, block by block with `trace_rows` frames each.
    const float* traces() const { return result().data(); }
    /// Copies them from the first on, and waits for it.
    void download(std::span<float> into) const;
    std::size_t trace_rows() const { return static_cast<std::size_t>(grid_.trace_rows()); }
    const device::stream& on() const { return on_; }

private:
    void read(const staging& plan);
    const device::buffer<float>& result() const {
        return whitened_.size() > 0 ? whitened_ : plain_;
    }

    const recording& from_;
    const trace_recipe& recipe_;
    block_grid grid_;
    device::stream on_;
    device::host_buffer<std::int16_t> read_;
    device::host_buffer<staged_block> staged_;
    device::buffer<std::int16_t> counts_;
    device::buffer<staged_block> blocks_;
    device::buffer<double> gains_;
    device::buffer<float> matrix_;
    device::buffer<std::uint32_t> referenced_;
    device::buffer<double> shares_;
    device::buffer<double> values_;
    device::buffer<float> plain_;
    device::buffer<float> whitened_;
};

/// The pipelines of all devices.
class trace_lanes {
public:
    /// @param devices  as in `execution`
    trace_lanes(const recording& from, const trace_recipe& recipe, const block_grid& grid,
                std::span<const int> devices)
        : grid_(grid),
          together_(record::blocks_together(grid)),
          lanes_(devices, [&from, &recipe, grid, together = together_] {
              return std::make_unique<device_pipeline>(from, recipe, grid, together);
          }) {}

    const block_grid& grid() const { return grid_; }
    std::size_t blocks_together() const { return together_; }

    /// Calls `work(pipeline)` with its device active as soon as one is free.
    template <class Work>
    auto with_lane(const std::stop_token& stop, const Work& work) {
        return lanes_.with_lane(stop, work);
    }

private:
    block_grid grid_;
    std::size_t together_;
    device::lanes<device_pipeline> lanes_;
};

}  // namespace spikeweave::record
