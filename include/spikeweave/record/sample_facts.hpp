#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/record/recording.hpp"

/// Faults of channels that their samples show: limits of the range, rests, copies.
namespace spikeweave {

/// The behaviour of one channel.
struct channel_facts {
    std::int16_t least = INT16_MAX;
    std::int16_t most = INT16_MIN;
    std::uint64_t at_least = 0;  ///< frames in runs at `least`
    std::uint64_t at_most = 0;
    std::uint64_t steady = 0;  ///< frames in long runs of one value
    std::uint64_t wraps = 0;   ///< jumps of nearly 65,536
    std::uint64_t outer = 0;   ///< frames nearer to the ends of int16 than to 0
    std::uint64_t digest = 0xcbf29ce484222325U;
    std::int16_t value = 0;  ///< of the run that has not ended
    std::uint64_t run = 0;   ///< its frames

    /// Frames at the limit of the range that the samples seem to have.
    std::uint64_t at_limit() const { return at_least > at_most ? at_least : at_most; }
};

/// The behaviour of all channels in samples that are taken piece by piece. It does not depend on
/// the sizes of pieces that follow each other.
class SPIKEWEAVE_API sample_facts {
public:
    sample_facts(std::size_t channels, double rate_hz);

    /// Takes the next frames, channels fastest.
    void take(std::span<const std::int16_t> counts);
    /// No frame follows the last one.
    void end_piece();
    /// Adds those of later frames. The pieces of both have ended.
    void add(const sample_facts& later);

    const std::vector<channel_facts>& channels() const { return channels_; }
    std::uint64_t frames() const { return frames_; }
    /// Faults but constant channels, as full sentences, once the piece has ended.
    std::vector<std::string> warnings(const std::vector<recording_channel>& of) const;
    /// All faults, likewise.
    std::vector<std::string> all_warnings(const std::vector<recording_channel>& of) const;

private:
    std::uint64_t long_run_;
    std::vector<channel_facts> channels_;
    std::uint64_t frames_ = 0;
    std::uint64_t blanked_ = 0;  // frames in long runs during which no channel moves
    std::uint64_t still_ = 0;    // frames of such a run that has not ended
};

}  // namespace spikeweave
