#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "live/sources/source.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/sort/online.hpp"

namespace spikeweave::live {

/// The spikes of known units in a recording, found as if its samples came now.
class sorted_recording : public source {
public:
    /// @param speed  how much faster than the recording; 0 means as fast as spikes are taken
    /// @param stop   ends the source within a moment
    sorted_recording(recording from, const template_set& set, double speed, std::stop_token stop);

    const std::vector<std::string>& unit_names() const override { return unit_names_; }
    std::optional<source_block> next() override;
    /// The time of the first sample that was not there before the last block.
    std::chrono::steady_clock::time_point arrived_after() const override;
    std::optional<delays> sorting_delays() const override;

private:
    using clock = std::chrono::steady_clock;

    clock::time_point due(std::uint64_t frame) const;
    std::uint64_t frames_to_read();
    source_block block_of(const std::vector<template_spike>& spikes) const;

    recording from_;
    online_sorter sorter_;
    double speed_;
    std::stop_token stop_;
    std::vector<std::string> unit_names_{};
    std::vector<std::int16_t> samples_{};
    std::uint64_t read_ = 0;  // frames
    bool is_over_ = false;
    clock::time_point began_{};
    clock::time_point arrived_after_{};
    std::vector<float> delays_ms_{};  // of the spikes
};

}  // namespace spikeweave::live
