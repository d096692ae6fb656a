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

namespace spikeweave {

namespace record {
class whitener;
}

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

}  // namespace spikeweave
