#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::live {

/// Samples of all channels that came together, of frames that follow each other. The fields apply
/// in this order.
struct sample_block {
    std::uint64_t unreadable = 0;        ///< messages that could not be read
    bool begins_epoch = false;           ///< the clock has started again
    std::uint64_t missing = 0;           ///< frames that were lost before the first one
    bool has_left_out = false;           ///< they were left out because too many waited
    std::int64_t first = 0;              ///< the number of the first frame
    std::vector<std::int16_t> counts{};  ///< channels fastest; empty: no frame has come

    friend bool operator==(const sample_block&, const sample_block&) = default;
};

/// Where the samples of a running recording come from.
class sample_stream {
public:
    sample_stream() = default;
    virtual ~sample_stream() = default;
    sample_stream(const sample_stream&) = delete;
    sample_stream& operator=(const sample_stream&) = delete;

    /// Frame 0 is at its `begin`.
    virtual const recording_description& description() const = 0;
    /// Waits for the next block; after `longest_silence`, that is an empty one. Null at the end.
    /// @throws io_error if the source fails, or its samples are not those of the description.
    virtual std::optional<sample_block> next() = 0;
    /// The last samples of the last block did not come to this computer before this time; null:
    /// they come as fast as they are taken.
    virtual std::optional<std::chrono::steady_clock::time_point> arrived_after() const = 0;
    /// Whether the last block waited because nobody could sort it yet.
    virtual bool has_waited() const { return false; }
    /// Sentences about the channels that are not in the description, because the source was asked
    /// later.
    virtual std::vector<std::string> warnings() const { return {}; }
    /// As of `source`.
    virtual std::string first_unreadable() const { return {}; }
};

}  // namespace spikeweave::live
