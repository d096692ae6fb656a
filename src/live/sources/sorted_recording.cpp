#include "live/sources/sorted_recording.hpp"

#include <algorithm>
#include <utility>

#include "live/sources/played_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr double taken_s = 0.001;                  // that are taken at once
constexpr std::uint64_t most_frames_taken = 8192;  // likewise, if they are late or at no speed

}  // namespace

sorted_recording::sorted_recording(recording from, const template_set& set, double speed,
                                   std::stop_token stop)
    : from_(std::move(from)),
      sorter_(set, from_.description()),
      speed_(speed),
      stop_(std::move(stop)) {
    if (!(speed >= 0)) throw invalid_argument("speed", "it is negative");
    for (std::size_t u = 1; u <= set.unit_count(); ++u) unit_names_.push_back(std::to_string(u));
}

// The time at which all samples before the frame are there.
sorted_recording::clock::time_point sorted_recording::due(std::uint64_t frame) const {
    const std::chrono::duration<double> after(static_cast<double>(frame) /
                                              (from_.rate_hz() * speed_));
    return began_ + std::chrono::duration_cast<clock::duration>(after);
}

// Waits for the next samples, and returns how many frames there are; 0 if it has to stop.
std::uint64_t sorted_recording::frames_to_read() {
    const std::uint64_t left = from_.frame_count() - read_;
    if (speed_ == 0) return std::min(left, most_frames_taken);
    if (read_ == 0) began_ = clock::now();
    const auto step = std::min(
        left, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(taken_s * from_.rate_hz())));
    arrived_after_ = due(read_ + step);
    if (!sleep_until(arrived_after_, stop_)) return 0;
    const std::chrono::duration<double> passed = clock::now() - began_;
    const auto there = static_cast<std::uint64_t>(passed.count() * from_.rate_hz() * speed_);
    return std::clamp(there > read_ ? there - read_ : 0, step, std::min(left, most_frames_taken));
}

source_block sorted_recording::block_of(const std::vector<template_spike>& spikes) const {
    const auto time_us = [this](double frame) {
        const duration after = duration_from_seconds(std::max(0.0, frame) / from_.rate_hz());
        return (from_.description().begin + after).count();
    };
    source_block out;
    for (const template_spike& spike : spikes)
        out.spikes.push_back(
            {time_us(static_cast<double>(spike.frame) + spike.fraction), unit_id{spike.unit}});
    std::ranges::sort(out.spikes);
    // A peak is at most half a frame before its sample.
    out.watermark_us = time_us(is_over_ ? static_cast<double>(from_.frame_count())
                                        : static_cast<double>(sorter_.decided_frames()) - 0.5);
    return out;
}

std::optional<source_block> sorted_recording::next() {
    if (is_over_ || stop_.stop_requested()) return {};
    std::vector<template_spike> spikes;
    if (read_ < from_.frame_count()) {
        const std::uint64_t count = frames_to_read();
        if (count == 0) return {};
        samples_.resize(count * from_.channel_count());
        from_.read(read_, samples_);
        read_ += count;
        // One thread: a block of a millisecond is too little work for more.
        spikes = sorter_.add(samples_, {.threads = 1});
        const std::chrono::duration<float, std::milli> delay = clock::now() - arrived_after_;
        if (speed_ > 0) delays_ms_.insert(delays_ms_.end(), spikes.size(), delay.count());
    }
    if (read_ == from_.frame_count()) {
        is_over_ = true;
        const auto rest = sorter_.finish({.threads = 1});
        spikes.insert(spikes.end(), rest.begin(), rest.end());
    }
    return block_of(spikes);
}

sorted_recording::clock::time_point sorted_recording::arrived_after() const {
    return speed_ == 0 ? clock::now() : arrived_after_;
}

std::optional<delays> sorted_recording::sorting_delays() const {
    if (delays_ms_.empty()) return {};
    std::vector<float> ascending = delays_ms_;
    std::ranges::sort(ascending);
    const auto at = [&](double share) {
        return static_cast<double>(
            ascending[static_cast<std::size_t>(share * static_cast<double>(ascending.size() - 1))]);
    };
    return delays{.median_ms = at(0.5), .p99_ms = at(0.99), .p999_ms = at(0.999)};
}

}  // namespace spikeweave::live
