#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "live/sources/open_ephys_messages.hpp"
#include "live/sources/sample_stream.hpp"

namespace spikeweave::live {

/// Makes blocks of samples of the data that the ZMQ Interface sends of one stream, a message for
/// each channel of a block, in microvolts. A block of which a channel is lost is lost.
class open_ephys_samples {
public:
    /// @param stream  empty: the one that sends data first
    /// @param of      the channels that are expected, in the order of their numbers, and the rate;
    /// without channels, those of the first two blocks that agree; without a rate, that of the
    /// first message
    /// @param gain_uv  of channels that are not described, in microvolts per count
    open_ephys_samples(std::string stream, recording_description of, double gain_uv = 1);

    const recording_description& description() const { return of_; }
    /// Takes the frames of a message.
    /// @throws io_error if another stream sends data, too, and none was named, or if the rate or
    /// the number of channels is not as described.
    void take(std::span<const std::string_view> frames);
    /// Nothing is to do: the numbers of the next frames tell what was lost.
    void connection_broke() {}
    /// Messages that waited too long were left out, and with them the block that they belong to.
    void leave_out();
    /// The next block that is complete.
    std::optional<sample_block> complete();
    /// Messages that could not be read since the last complete block.
    std::optional<sample_block> rest();
    const std::string& first_unreadable() const { return first_unreadable_; }

private:
    void take_unreadable(const std::string& why);
    bool follows(const std::string& stream);
    void begin(const open_ephys_header& header);
    void learn_channels();
    void finish();

    bool is_named_;
    std::string stream_;
    recording_description of_;
    double gain_uv_;
    open_ephys_header_parser parser_{};
    std::vector<std::int64_t> numbers_{};  // of the channels, ascending; empty: not known yet
    std::vector<std::int64_t> seen_{};     // those of the last block, until they are known
    bool has_left_out_ = false;            // since the last complete block
    std::int64_t first_ = -1;              // frame of the block that is not complete; -1: none
    std::int64_t frames_ = 0;              // of it
    std::map<std::int64_t, std::vector<std::int16_t>> counts_{};  // of its channels
    bool has_begun_ = false;             // a block was seen from its first channel
    std::optional<std::int64_t> end_{};  // the frame after the last complete block
    std::uint64_t unreadable_ = 0;
    std::deque<sample_block> complete_{};
    std::string first_unreadable_{};
};

}  // namespace spikeweave::live
