#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "record/filter/block_reader.hpp"
#include "spikeweave/record/detection.hpp"

namespace spikeweave::record {

/// The frames around a peak that make up a waveform.
struct waveform_window {
    std::int64_t before = 0;
    std::int64_t after = 0;  ///< the last frame, relative to the peak

    std::size_t size() const { return static_cast<std::size_t>(before + after + 1); }
    /// Number of frames that a block needs around it to hold the window of each of its spikes;
    /// interpolation needs two more.
    std::size_t apron() const { return static_cast<std::size_t>(std::max(before, after)) + 3; }
};
waveform_window window_of(const detection_options& options, double rate_hz);

/// Returns the offset of the peak from the frame `offset` of a block: the vertex of a parabola
/// through three samples.
float fraction_of(const trace_block& block, std::int64_t offset, std::uint32_t channel);

/// Writes the waveform of one channel with its peak on a frame, by cubic interpolation
/// (Catmull-Rom).
void take_waveform(const trace_block& block, std::int64_t offset, float fraction,
                   std::uint32_t channel, const waveform_window& window, std::span<float> into);

/// The principal components of each channel's waveforms: `[channel][component][frame]`.
class principal_components {
public:
    principal_components(std::size_t channels, std::size_t components, std::size_t frames)
        : components_(components), frames_(frames), values_(channels * components * frames) {}

    /// Makes components from the `values` of others.
    principal_components(std::size_t components, std::size_t frames, std::vector<float> values)
        : components_(components), frames_(frames), values_(std::move(values)) {}

    std::size_t components() const { return components_; }
    const std::vector<float>& values() const { return values_; }
    std::span<const float> of(std::size_t channel) const {
        return std::span{values_}.subspan(channel * components_ * frames_, components_ * frames_);
    }
    std::span<float> of(std::size_t channel) {
        return std::span{values_}.subspan(channel * components_ * frames_, components_ * frames_);
    }

private:
    std::size_t components_;
    std::size_t frames_;
    std::vector<float> values_;
};

/// Adds up waveforms in a fixed order and computes their principal components.
class waveform_statistics {
public:
    waveform_statistics(std::size_t channels, std::size_t frames);

    void add(std::size_t channel, std::span<const float> waveform);
    /// A channel with fewer waveforms than twice its frames gets the components of all channels
    /// together. The sign of the first component is such that waveforms project above 0 on average;
    /// the largest weight of each other component is positive.
    principal_components components(std::size_t count, const execution& run) const;

private:
    struct sums {
        std::size_t count = 0;
        std::vector<double> first{};
        std::vector<double> second{};
    };
    static void write_components(const sums& from, std::size_t frames, std::span<float> into);

    std::size_t frames_;
    std::vector<sums> channels_;
};

}  // namespace spikeweave::record
