#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "live/sources/sample_stream.hpp"

namespace spikeweave::live {

/// Makes blocks of the samples of a stream of LSL, which has a time for each frame but no numbers.
/// Frames follow each other at the rate of the stream, whose times tremble and whose clock drifts,
/// until a time is half a second away: then frames are missing, or, if it is earlier, an epoch
/// begins.
class lsl_frames {
public:
    static constexpr double longest_tremble_s = 0.5;
    /// The times to which an offset of the times is followed.
    static constexpr double drift_followed_s = 10;

    /// @param of       the channels and the rate that are expected; none: those of the stream
    /// @param gain_uv  of its channels, in microvolts per count; 0: 1 of whole numbers, 0.1 of
    /// microvolts
    lsl_frames(recording_description of, double gain_uv);

    const recording_description& description() const { return of_; }
    /// The stream is described. Returns what is not as expected; empty: nothing.
    std::string begin(std::size_t channels, double rate_hz, bool is_whole);
    /// Frames, channels fastest, each with its time.
    void take(std::span<const std::int16_t> counts, std::span<const double> times_s);
    void take(std::span<const float> microvolts, std::span<const double> times_s);
    /// At least one frame is lost before the next one.
    void add_loss() { is_after_loss_ = end_.has_value(); }

    std::optional<sample_block> next();

private:
    sample_block* place(double time_s);

    recording_description of_;
    double gain_uv_;
    bool is_after_loss_ = false;
    std::optional<std::int64_t> end_{};  // frame after the last one
    double offset_s_ = 0;                // of times from those of the frames
    std::uint64_t unreadable_ = 0;
    std::deque<sample_block> blocks_{};
};

}  // namespace spikeweave::live
