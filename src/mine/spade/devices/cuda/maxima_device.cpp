#include "mine/spade/devices/maxima_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cuda.hpp"
#include "mine/spade/devices/cuda/search_kernels.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::spade {
namespace {

using device::buffer;

// A batch on a device.
struct resident_batch {
    resident_batch(const maxima_input& from, const maxima_rules& rules, const device::stream& on)
        : bins(from.bins, on),
          offsets(from.offsets, on),
          roots(from.roots, on),
          rules_in_order(rules.rules, on),
          rasters(from.roots.size() * from.shape.row_words, on),
          most(std::size_t{from.shape.recordings} * from.shape.maxima(), on),
          lowest(from.shape.durations > 1 ? most.size() : 0, on),
          left_out(from.shape.recordings, on),
          next(1, on) {
        rasters.fill(0);
        most.fill(0);
        lowest.fill(0);
        left_out.fill(0);
        next.fill(0);
        view = {.shape = from.shape,
                .rules = {rules_in_order.data(), static_cast<std::uint32_t>(rules.rules.size())},
                .least_occ = rules.least_occ,
                .max_occ = rules.max_occ,
                .drop_window_subsets = rules.drop_window_subsets,
                .bins = bins.data(),
                .offsets = offsets.data(),
                .roots = roots.data(),
                .rasters = rasters.data(),
                .most = most.data(),
                .lowest = lowest.size() > 0 ? lowest.data() : most.data(),
                .left_out = left_out.data(),
                .next = next.data()};
        fill_rasters(view, rasters.data(), on);
    }

    buffer<std::uint32_t> bins;
    buffer<std::uint64_t> offsets;
    buffer<std::uint32_t> roots;
    buffer<device_rule> rules_in_order;
    buffer<std::uint32_t> rasters;
    buffer<std::uint32_t> most;
    buffer<std::uint32_t> lowest;
    buffer<std::uint32_t> left_out;
    buffer<std::uint32_t> next;
    maxima_batch view{};
};

class cuda_maxima_device : public maxima_device {
public:
    cuda_maxima_device(int ordinal, maxima_rules rules)
        : ordinal_(ordinal), rules_(std::move(rules)) {
        const device::scoped_device on(ordinal_);
        stream_ = std::make_unique<device::stream>();
    }
    ~cuda_maxima_device() override {
        // A search that was given up ends within moments. Memory is freed on its device, unless the
        // device is lost.
        try {
            const device::scoped_device on(ordinal_);
            std::stop_source given_up;
            given_up.request_stop();
            try {
                if (batch_) stop_.wait(*stream_, given_up.get_token());
            } catch (const cancelled&) {
                batch_.reset();
            }
            batch_.reset();
            memory_ = {};
            stream_.reset();
        } catch (...) {
            static_cast<void>(stream_.release());
        }
    }
    cuda_maxima_device(const cuda_maxima_device&) = delete;
    cuda_maxima_device& operator=(const cuda_maxima_device&) = delete;

    std::uint32_t most_recordings(const maxima_shape& one) override {
        // A larger batch does not use the device better, and the others wait longer at the end.
        constexpr std::uint64_t most = 256;
        const device::device_limits limits = device::limits_of(ordinal_);
        const std::uint64_t spikes = std::uint64_t{one.units} * one.most_windows;
        const std::uint64_t bytes = bytes_of_recordings(one, spikes);
        // A third is for the recordings; the same device may be listed twice.
        const std::uint64_t room = limits.free_bytes / 3 / bytes;
        plan(one, limits, room > 0 ? 0 : bytes);
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room, 1, most));
    }

    void begin(const maxima_input& batch) override {
        const device::scoped_device on(ordinal_);
        const search_plan how = plan(batch.shape, device::limits_of(ordinal_), 0);
        if (memory_.size() < how.bytes()) {
            memory_ = {};
            memory_ = buffer<unsigned char>(how.bytes(), *stream_);
        }
        batch_ = std::make_unique<resident_batch>(batch, rules_, *stream_);
        find_maxima(batch_->view, how, memory_.data(), stop_.flag(), *stream_);
    }

    maxima_output end(const std::stop_token& stop) override {
        const device::scoped_device on(ordinal_);
        stop_.wait(*stream_, stop);
        maxima_output found{batch_->most.downloaded(), batch_->left_out.downloaded()};
        batch_.reset();
        return found;
    }

private:
    // The blocks for a batch, in the memory that is free, besides what this device already has.
    search_plan plan(const maxima_shape& shape, const device::device_limits& limits,
                     std::uint64_t missing) const {
        const std::uint64_t room = limits.free_bytes / 3 + memory_.size();
        const search_plan how = plan_maxima(shape, limits, room);
        if (how.blocks == 0 || missing > 0)
            throw device_error(fmt::format(
                "GPU {} has too little memory to search surrogates: {} bytes are needed, {} of its "
                "{} are free",
                ordinal_, 3 * std::max(how.block_bytes(), missing), limits.free_bytes,
                limits.total_bytes));
        return how;
    }

    int ordinal_;
    maxima_rules rules_;
    device::stop_flag stop_;
    std::unique_ptr<device::stream> stream_;
    buffer<unsigned char> memory_{};
    std::unique_ptr<resident_batch> batch_{};
};

}  // namespace

std::unique_ptr<maxima_device> open_maxima_device(int ordinal, const maxima_rules& rules) {
    return std::make_unique<cuda_maxima_device>(ordinal, rules);
}

}  // namespace spikeweave::spade
