#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/sources/sample_stream.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/sample_facts.hpp"
#include "spikeweave/sort/online.hpp"

namespace spikeweave::live {

/// A session that was interrupted, and goes on with samples.
struct interrupted_session {
    std::int64_t watermark_us = 0;  ///< all spikes before it have come
    /// Whether the first samples are some from before it, for the state of the sorter. Otherwise
    /// those that came since are missing, and earlier ones begin an epoch.
    bool repeats = false;
    std::vector<motion_step> motion{};  ///< the steps that it has followed
};

/// The first frame whose spikes are not before a watermark of sorted samples.
std::int64_t first_frame_after(std::int64_t watermark_us, const recording_description& of);

/// The spikes of known units in samples that arrive. All units are sorted, because they explain
/// parts of each other's traces, but only the spikes of some are given. Where frames are missing,
/// or the clock starts again, sorting begins anew with the next frame, so that no later spike is
/// shifted. The missing frames count as `source_block::missing`.
class sorted_samples : public source {
public:
    /// @param used     the units whose spikes are given, ascending
    /// @param drift    the motion of the tissue that is followed
    /// @param run      the threads that sort samples which have waited, and the device, if any
    /// @param resumed  the session that goes on
    /// @throws invalid_argument or device_error as of `online_sorter`.
    sorted_samples(std::unique_ptr<sample_stream> from, template_set set,
                   std::span<const std::size_t> used, motion_model drift,
                   execution run = {.threads = 1}, std::optional<interrupted_session> resumed = {});

    const std::vector<std::string>& unit_names() const override { return unit_names_; }
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override;
    std::string first_unreadable() const override { return from_->first_unreadable(); }
    std::optional<sampling_state> sampling() const override;

private:
    using clock = std::chrono::steady_clock;

    void resume(sample_block& got) const;
    bool is_repeated(const source_block& block) const;
    std::optional<source_block> next_of_all();
    source_block sorted(const sample_block& got);
    probe_motion resumed_motion(std::int64_t first) const;
    void load_device_code() const;
    void begin_to_sort(std::int64_t first, const probe_motion& known);
    probe_motion last_motion() const;
    void tell_motion(source_block& out);
    std::int64_t time_us_of(double frame) const;
    source_block rest();
    void count_unexplained();
    source_block block_of(const std::vector<template_spike>& spikes, double watermark_frame) const;

    std::unique_ptr<sample_stream> from_;
    execution run_;
    template_set set_;
    probe_motion unmoved_;
    online_sorter sorter_;
    std::vector<recording_channel> sorted_channels_;  // as they were when the sorter was made
    std::vector<std::string> unit_names_{};
    std::optional<interrupted_session> resumed_;
    std::vector<std::optional<unit_id>> ids_;  // of the units of the set; null: not given
    std::int64_t first_ = 0;                   // frame of the sorter
    std::int64_t end_ = 0;                     // frame after the last one that came
    std::size_t told_bins_ = 0;                // of the motion of the sorter
    std::vector<double> told_um_{};
    bool is_over_ = false;
    std::optional<sample_block> waiting_{};  // has come, but is after a gap
    sample_facts facts_;
    std::uint64_t frames_ = 0;  // of which `taken_` tells
    sampling_state taken_{};    // without channels
};

}  // namespace spikeweave::live
