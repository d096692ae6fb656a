#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/record/motion.hpp"
#include "spikeweave/record/preprocess.hpp"
#include "spikeweave/record/recording.hpp"
#include "spikeweave/record/trace_blocks.hpp"

namespace spikeweave {

namespace record {
class scaled_stream;
class whitener;
}  // namespace record

/// The steps from samples to traces as they were resolved for a recording, for later samples of the
/// same channels.
struct trace_settings {
    std::vector<band_section> sections{};  ///< which run forward
    /// Channels, ascending, whose common median is subtracted from them; empty: none is subtracted.
    std::vector<std::uint32_t> referenced{};
    /// Weight of channel k in channel c: `[k * channels + c]`; empty: no whitening.
    std::vector<float> whitening{};
    std::vector<double> noise{};  ///< standard deviation of each channel's traces; 0: left out
};

/// Those of a recording, except motion, which is not undone.
SPIKEWEAVE_API trace_settings settings_of(const filtered_recording& traces);

/// Traces of samples that arrive piece by piece, filtered forward: no value depends on later
/// samples, nor on the sizes of the pieces.
class SPIKEWEAVE_API trace_stream {
public:
    trace_stream(trace_settings settings, std::span<const recording_channel> channels);

    const trace_settings& settings() const { return settings_; }
    /// The next frames are those of contacts that move with the tissue.
    /// @param moved  the displacement in its bin `bin`
    void follow(const probe_motion& moved, std::size_t bin);
    /// Filters the next frames, channels fastest. Before the first frame each channel is assumed to
    /// have had that frame's value forever.
    /// @param run  on its threads, if there are many frames
    std::vector<float> next(std::span<const std::int16_t> counts,
                            const execution& run = {.threads = 1});

private:
    trace_settings settings_;
    std::vector<recording_channel> channels_;
    std::shared_ptr<const record::whitener> whitener_{};  // null: no whitening
    std::optional<displaced_contacts> displaced_{};       // null: where they were
    std::vector<double> first_{};                         // frame
    std::vector<double> states_{};                        // of the sections
};

/// The same traces, each channel times a factor, limited, and rounded to the nearest integer.
class SPIKEWEAVE_API scaled_trace_stream {
public:
    /// @param run  traces are computed on its first device if it has any, with the same result
    /// @throws invalid_argument unless there is a factor for each channel; device_error.
    scaled_trace_stream(trace_settings settings, std::span<const recording_channel> channels,
                        trace_scale scale, const execution& run = {});

    /// As of `trace_stream`. @throws device_error
    void follow(const probe_motion& moved, std::size_t bin);
    /// Returns channels x frames. @throws device_error
    std::vector<std::int16_t> next(std::span<const std::int16_t> counts,
                                   const execution& run = {.threads = 1});

private:
    std::shared_ptr<record::scaled_stream> stream_;
};

}  // namespace spikeweave
