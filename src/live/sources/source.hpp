#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/metrics/latency_histogram.hpp"
#include "live/session/event_order.hpp"
#include "spikeweave/sort/online.hpp"

/// Where the spikes of a running recording come from.
namespace spikeweave::live {

/// The progress of a program that numbers its messages, and repeats those that were not
/// acknowledged.
struct sender_progress {
    std::string name{};
    std::string clock{};     ///< the name of what its times count from
    std::uint64_t last = 0;  ///< the number of its last message in this block or before it
    bool has_finished = false;

    friend bool operator==(const sender_progress&, const sender_progress&) = default;
};

/// A step of the motion of the tissue that a source of samples follows.
struct motion_step {
    std::int64_t time_us = 0;  ///< from when on
    /// The displacement in each window of depths, as of `probe_motion`.
    std::vector<double> displacement_um{};

    friend bool operator==(const motion_step&, const motion_step&) = default;
};

/// The arrivals that a source reports at once. The fields apply in this order.
struct source_block {
    std::vector<std::string> new_units{};  ///< names of units that were not known; ids go on
    bool begins_epoch = false;             ///< the clock has started again
    std::uint64_t missing = 0;     ///< messages, or frames of samples, lost before the spikes
    std::uint64_t belated = 0;     ///< messages that had been missing and came after all
    std::uint64_t repeated = 0;    ///< messages that had come before and were left out
    std::uint64_t unreadable = 0;  ///< messages, or spikes, that could not be read
    std::vector<spike_event> spikes{};
    /// All spikes before this time have come.
    std::optional<std::int64_t> watermark_us{};
    std::vector<sender_progress> senders{};  ///< those with messages in this block
    std::vector<motion_step> motion{};       ///< steps that begin in this block

    friend bool operator==(const source_block&, const source_block&) = default;
};

/// The state of sorting samples as they arrive, and of their channels.
struct sampling_state {
    struct channel {
        std::string name{};
        std::uint64_t at_limit = 0;  ///< frames at the limit of its range
        std::uint64_t constant = 0;  ///< frames in times in which it does not change
    };
    /// The times from the arrival of the samples that decide a spike until it is found; empty if
    /// samples arrive as fast as they are sorted.
    latency_histogram sorting{};
    double behind_s = 0;            ///< the largest delay of sorting the last samples
    double most_behind_s = 0;       ///< the longest such time
    std::uint64_t left_out = 0;     ///< missing frames that were left out because too many waited
    std::uint64_t unexplained = 0;  ///< detections that no template explains
    std::vector<channel> channels{};
    /// The depth of each window of the tissue whose motion is followed, and its displacement now.
    std::vector<std::pair<double, double>> motion_um{};
    std::vector<std::string> warnings{};  ///< of the samples, as full sentences
};

/// After so long a source says that nothing has come.
constexpr std::chrono::seconds longest_silence{1};

class source {
public:
    source() = default;
    virtual ~source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;

    /// The units that are known before the first block. Blocks tell of those that appear later.
    virtual const std::vector<std::string>& unit_names() const = 0;
    /// Waits for the next block; after `longest_silence`, that is an empty one. Null at the end.
    /// @throws io_error if the source fails.
    virtual std::optional<source_block> next() = 0;
    /// The spikes of the last block did not come to this computer before this time.
    virtual std::chrono::steady_clock::time_point arrived_after() const {
        return std::chrono::steady_clock::now();
    }
    /// The first message that could not be read, and what was expected; empty: not known.
    virtual std::string first_unreadable() const { return {}; }
    /// The templates that the source has learned, when a block has told of their units; empty:
    /// none.
    virtual std::shared_ptr<const template_set> learned() const { return {}; }
    /// Null: the source has spikes.
    virtual std::optional<sampling_state> sampling() const { return {}; }
    /// A source may acknowledge as many of its blocks to those who sent them as this says: they
    /// will not be lost any more. Otherwise a block counts as safe when it has been processed, that
    /// is, when the next one is asked for.
    virtual void acknowledge_after(const std::function<std::uint64_t()>& /*safe_blocks*/) {}
};

}  // namespace spikeweave::live
