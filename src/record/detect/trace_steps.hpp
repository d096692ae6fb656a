#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "record/detect/flood_fill.hpp"
#include "record/detect/waveforms.hpp"
#include "record/filter/trace_recipe.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// Defines which samples are weak: those whose product with the factor of their channel is above
/// `above`.
struct crossing_rule {
    std::vector<float> by_noise{};  ///< 0 for a channel that is left out
    float above = 0;
    bool both = false;  ///< both signs: the absolute value of the product counts
};
crossing_rule crossings_by(const filtered_recording& traces, const detection_options& options);

/// Returns the basis of the features without its components.
feature_basis feature_space_of(const filtered_recording& traces, const detection_options& options);

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

// On the devices of an `execution`. In a build without CUDA these throw `device_error`.

/// Returns every `excerpt_step`th frame of some blocks (of the standard grid, ascending), channels
/// fastest.
std::vector<std::vector<float>> excerpts_on_devices(const recording& from,
                                                    const trace_recipe& recipe,
                                                    std::span<const std::size_t> blocks,
                                                    const execution& run);

/// A piece has as many blocks as keep a device busy.
std::unique_ptr<trace_steps> steps_on_devices(const filtered_recording& traces,
                                              const crossing_rule& rule,
                                              const waveform_window& window,
                                              std::size_t block_frames, const execution& run);

}  // namespace spikeweave::record
