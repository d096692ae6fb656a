#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/detect/crossing_rule.hpp"
#include "record/detect/flood_fill.hpp"
#include "record/detect/waveforms.hpp"

namespace spikeweave::record {

/// Samples beyond the weak threshold, ordered by frame, then by channel.
struct piece_crossings {
    std::vector<std::uint32_t>
        frames{};  ///< frame of each crossing, relative to the piece's first frame
    std::vector<crossing> crossings{};
};

/// A waveform on `channel`, with the peak of its spike on `peak_channel`.
struct waveform_place {
    std::int64_t frame;
    std::uint32_t peak_channel;
    std::uint32_t channel;
};

/// Spikes of one piece, and where their fractions and features are written.
struct spike_slice {
    std::span<const std::int64_t> frames;
    std::span<const std::uint32_t> peak_channels;
    std::span<float> fractions;
    std::span<float> features;
    /// As `detection_result::described_channels`.
    std::span<const std::vector<std::uint32_t>> described_channels{};
};

/// The steps of detection that use traces, piece by piece from the recording's first frame. Several
/// threads may process pieces at once.
class trace_steps {
public:
    trace_steps() = default;
    virtual ~trace_steps() = default;
    trace_steps(const trace_steps&) = delete;
    trace_steps& operator=(const trace_steps&) = delete;
    trace_steps(trace_steps&&) = delete;
    trace_steps& operator=(trace_steps&&) = delete;

    virtual std::size_t piece_count() const = 0;
    virtual std::size_t piece_frames() const = 0;
    virtual piece_crossings crossings_of(std::size_t piece) const = 0;
    /// Returns the waveforms one after another. Peaks are in the piece and ascend.
    virtual std::vector<float> waveforms_of(std::size_t piece,
                                            std::span<const waveform_place> places) const = 0;
    virtual void describe(std::size_t piece, const spike_slice& spikes,
                          const principal_components& components) const = 0;
};

/// Each block is a piece.
std::unique_ptr<trace_steps> steps_on_cpu(const filtered_recording& traces,
                                          const crossing_rule& rule, const waveform_window& window,
                                          std::size_t block_frames);

}  // namespace spikeweave::record
