#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "device/cuda.hpp"
#include "record/filter/trace_recipe.hpp"
#include "record/trace_kernels.hpp"

namespace spikeweave::record {

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
    const float* traces() const { return whitened_.size() > 0 ? whitened_.data() : plain_.data(); }
    std::size_t trace_rows() const { return static_cast<std::size_t>(grid_.trace_rows()); }
    const device::stream& on() const { return on_; }

private:
    void read(const staging& plan);

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

/// The lanes of all devices. Each is created when it is first used.
class trace_lanes {
public:
    /// @param devices  as in `execution`: a device that is listed twice has twice as many lanes
    trace_lanes(const recording& from, const trace_recipe& recipe, const block_grid& grid,
                std::span<const int> devices);
    ~trace_lanes();
    trace_lanes(const trace_lanes&) = delete;
    trace_lanes(trace_lanes&&) = delete;
    trace_lanes& operator=(const trace_lanes&) = delete;
    trace_lanes& operator=(trace_lanes&&) = delete;

    const block_grid& grid() const { return grid_; }
    std::size_t blocks_together() const { return together_; }

    /// Calls `work(lane)` with the lane's device active as soon as a lane is free.
    template <class Work>
    auto with_lane(const std::stop_token& stop, const Work& work) {
        place& mine = take(stop);
        const giving_back at_end{*this, mine};
        const device::scoped_device scope(mine.ordinal);
        if (!mine.lane)
            mine.lane = std::make_unique<device_pipeline>(from_, recipe_, grid_, together_);
        return work(*mine.lane);
    }

private:
    struct place {
        int ordinal = 0;
        bool used = false;
        std::unique_ptr<device_pipeline> lane{};
    };
    struct giving_back {
        trace_lanes& all;
        place& which;
        giving_back(trace_lanes& of, place& one) : all(of), which(one) {}
        ~giving_back() { all.give_back(which); }
        giving_back(const giving_back&) = delete;
        giving_back(giving_back&&) = delete;
        giving_back& operator=(const giving_back&) = delete;
        giving_back& operator=(giving_back&&) = delete;
    };

    place& take(const std::stop_token& stop);
    void give_back(place& which) noexcept;

    const recording& from_;
    const trace_recipe& recipe_;
    block_grid grid_;
    std::size_t together_;
    std::mutex access_;
    std::condition_variable_any free_;
    std::vector<place> places_;
};

}  // namespace spikeweave::record
