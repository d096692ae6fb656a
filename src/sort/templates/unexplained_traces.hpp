#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sort/templates/matching.hpp"
#include "sort/templates/motion_follower.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "spikeweave/sort/online.hpp"

namespace spikeweave::templates {

/// Finds detections that no template explains, in traces that arrive piece by piece: what is left
/// after the spikes are subtracted.
class unexplained_traces {
public:
    /// @param filters  of the units, which have to live as long
    /// @param follower  receives what is left; may be null
    unexplained_traces(std::span<const matched_filter> filters, const template_window& window,
                       std::size_t channels, double rate_hz, motion_follower* follower);

    /// Adds the next frames.
    void add(const integer_block& traces);
    /// Adds spikes, which are now known up to a frame, and searches the traces that they explain.
    void add(std::span<const template_spike> spikes, std::int64_t known_until);
    /// Searches all traces that the spikes up to a frame explain.
    void search_until_known(std::int64_t known_until);
    /// Searches all traces up to a frame; none follow.
    void finish(std::int64_t end);
    /// The detections since the last call, by frame.
    std::vector<unexplained_detection> take() { return std::exchange(found_, {}); }

private:
    // A template begins up to a frame earlier if its spike is between two frames.
    std::int64_t reach() const { return window_.before + 1 + beside_; }
    void search(std::int64_t end);
    void take_largest(std::span<const float> left, std::span<const std::uint32_t> channels,
                      std::span<const float> explained, std::size_t before, std::size_t count);
    void close();

    placed_waveforms placed_;
    motion_follower* follower_;
    template_window window_;
    std::int64_t least_frames_;             // that are searched at once
    std::int64_t apart_;                    // frames of detections that count as one
    std::int64_t beside_;                   // frames around one in which spikes explain it
    std::vector<std::vector<float>> kept_;  // traces of each channel, in standard deviations
    std::int64_t kept_first_ = 0;           // frame
    std::int64_t searched_ = 0;             // frames
    std::vector<template_spike> spikes_{};  // that reach into traces that are kept
    unexplained_detection open_{};          // that may grow
    std::int64_t open_until_ = -1;          // -1: there is none
    std::vector<unexplained_detection> found_{};
};

}  // namespace spikeweave::templates
