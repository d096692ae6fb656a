#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sort/templates/matching.hpp"
#include "sort/templates/placed_waveforms.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/trace_blocks.hpp"

namespace spikeweave::templates {

/// The conversion of traces to steps, by the noise of each channel.
trace_scale scale_of(std::span<const double> noise);

/// Traces in steps (64ths of a standard deviation of the noise), in blocks with what templates need
/// around each. Blocks that were read stay in memory, up to a limit, because all are read several
/// times; others are filtered again. May be read by several threads at once.
class template_traces {
public:
    template_traces(const filtered_recording& traces, const template_window& window,
                    std::uint64_t kept_bytes, const execution& run);

    const recording& source() const { return blocks_.source(); }
    const template_window& window() const { return window_; }
    const trace_blocks& blocks() const { return blocks_; }
    /// A block with its apron.
    std::shared_ptr<const integer_block> steps(std::size_t block) const;
    /// The same in standard deviations.
    channel_block read(std::size_t block) const;
    /// Frames from `first` on, without an apron, in standard deviations.
    channel_block read(std::uint64_t first, std::size_t frames) const;

private:
    template_window window_;
    trace_blocks blocks_;
    scaled_trace_blocks steps_;
    std::size_t most_kept_ = 0;
    mutable std::size_t kept_count_ = 0;
    std::size_t most_recent_ = 0;
    mutable std::mutex mutex_{};
    mutable std::vector<std::shared_ptr<const integer_block>> kept_{};
    mutable std::deque<std::size_t> recent_{};  // blocks that stay until others have been read
};

/// Where the template of a unit may be.
struct template_place {
    std::uint32_t peak = 0;                 ///< channel where its first spikes are largest
    std::vector<std::uint32_t> channels{};  ///< those nearest to it, ascending
};
std::vector<template_place> template_places(const recording& from,
                                            std::span<const std::uint32_t> peak_channels);

/// Averages spikes of each unit, spread over the recording. Each rank reads a block of it, and
/// every rank gets all templates.
/// @param spikes    ascending by frame
/// @param places    of the units
/// @param filters   templates of the spikes: the remainder of the traces after all spikes are
/// subtracted is averaged and added to them, so that other units' spikes do not count. Empty: the
/// traces themselves are averaged.
std::vector<unit_template> average_templates(const template_traces& traces,
                                             std::span<const template_spike> spikes,
                                             std::span<const template_place> places,
                                             std::span<const matched_filter> filters,
                                             const execution& run);

/// Measures `noise` of each filter by the median of the correlation's absolute value over parts of
/// the recording, as that of a Gaussian.
/// @param moves  motion was undone, so that noise depends on time: that of the noisier times is
/// taken, which a quarter of the parts exceeds
void measure_noise(const template_traces& traces, std::span<matched_filter> filters, bool moves,
                   const execution& run);

/// The findings in the traces.
struct template_matches {
    std::vector<template_spike> spikes{};  ///< by frame, then unit
    left_over_table left_over{};
};

/// Finds the spikes of all templates in the traces. Each rank reads a block of these, and every
/// rank gets all spikes.
template_matches match_templates(const template_traces& traces, const match_plan& plan,
                                 const execution& run);

}  // namespace spikeweave::templates
