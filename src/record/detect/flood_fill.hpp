#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace spikeweave::record {

/// A sample beyond the weak threshold.
struct crossing {
    std::uint32_t channel;
    float height;  ///< in standard deviations of the channel's noise
};

/// The highest sample of a connected set on one channel; the first of equal ones.
struct channel_peak {
    std::uint32_t channel;
    float height;
    std::int64_t frame;
};

/// Joins crossings that arrive frame by frame into connected sets. The result does not depend on
/// the division of the recording into pieces.
class flood_fill {
public:
    /// @param neighbours of each channel
    /// @param found      receives the peaks of each set in ascending order of channels, as soon as
    /// nothing more can be joined to the set
    flood_fill(std::vector<std::vector<std::uint32_t>> neighbours, std::uint32_t join_frames,
               std::int64_t longest_frames, std::function<void(std::vector<channel_peak>&&)> found);

    /// Adds all crossings of one frame, in ascending order of channels; frames ascend from call to
    /// call.
    void add(std::int64_t frame, std::span<const crossing> crossings);
    /// Closes all open sets.
    void finish();
    /// The number of sets that were closed because they lasted too long.
    std::size_t cut() const { return cut_; }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    struct set {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::vector<channel_peak> peaks{};
    };

    void close_before(std::int64_t frame);
    void close(std::uint32_t which);
    std::uint32_t set_near(std::int64_t frame, std::uint32_t channel, std::uint32_t joined);
    std::uint32_t join(std::uint32_t a, std::uint32_t b);
    std::uint32_t new_set(std::int64_t frame);
    static void note(set& into, const channel_peak& peak);

    std::vector<std::vector<std::uint32_t>> neighbours_;
    std::int64_t join_frames_;
    std::int64_t longest_frames_;
    std::function<void(std::vector<channel_peak>&&)> found_;
    std::vector<std::int64_t> last_frame_;  // frame of each channel's last crossing
    std::vector<std::uint32_t> last_set_;   // set of this crossing; none if that is closed
    std::vector<set> sets_;
    std::vector<std::uint32_t> open_;
    std::vector<std::uint32_t> free_;
    std::size_t cut_ = 0;
};

}  // namespace spikeweave::record
