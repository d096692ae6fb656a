#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "device/cuda.hpp"

namespace spikeweave::device {

/// The number of lanes that share a device, each with its own stream: some read while another
/// copies and a third computes. Reading takes longest, most of all where it subtracts templates:
/// with 16 cores, passes over the remainder of 384 channels took 5.5 s with 8 lanes, 3.6 s with 16.
constexpr std::size_t lanes_per_device = 16;

/// Lanes of several devices. Each is used by one thread at a time, and is created when it is first
/// used.
template <class Lane>
class lanes {
public:
    /// @param ordinals  as in `execution`: a device that is listed twice has twice as many lanes
    /// @param create    called with the lane's device active
    lanes(std::span<const int> ordinals, std::function<std::unique_ptr<Lane>()> create)
        : create_(std::move(create)) {
        // Devices alternate, so that work starts on every one of them.
        for (std::size_t i = 0; i < lanes_per_device; ++i)
            for (const int ordinal : ordinals) places_.push_back({.ordinal = ordinal});
    }
    ~lanes() {
        for (place& each : places_) {
            // Memory is freed on its device, unless the device is lost.
            try {
                const scoped_device scope(each.ordinal);
                each.lane.reset();
            } catch (...) {
                continue;
            }
        }
    }
    lanes(const lanes&) = delete;
    lanes& operator=(const lanes&) = delete;

    /// Calls `work(lane)` with the lane's device active as soon as a lane is free.
    template <class Work>
    auto with_lane(const std::stop_token& stop, const Work& work) {
        place& mine = take(stop);
        const giving_back at_end{*this, mine};
        const scoped_device scope(mine.ordinal);
        if (!mine.lane) mine.lane = create_();
        return work(*mine.lane);
    }

private:
    struct place {
        int ordinal = 0;
        bool used = false;
        std::unique_ptr<Lane> lane{};
    };
    struct giving_back {
        lanes& all;
        place& which;
        giving_back(lanes& of, place& one) : all(of), which(one) {}
        ~giving_back() { all.give_back(which); }
        giving_back(const giving_back&) = delete;
        giving_back& operator=(const giving_back&) = delete;
    };

    place& take(const std::stop_token& stop) {
        std::unique_lock lock(access_);
        const auto is_free = [](const place& each) { return !each.used; };
        free_.wait(lock, stop, [&] { return std::ranges::any_of(places_, is_free); });
        core::throw_if_stopped(stop);
        place& mine = *std::ranges::find_if(places_, is_free);
        mine.used = true;
        return mine;
    }
    void give_back(place& which) noexcept {
        {
            const std::lock_guard lock(access_);
            which.used = false;
        }
        free_.notify_one();
    }

    std::function<std::unique_ptr<Lane>()> create_;
    std::mutex access_;
    std::condition_variable_any free_;
    std::vector<place> places_;
};

}  // namespace spikeweave::device
