#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/live/events.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Spikes that a program gives to a `live_feed`.
struct live_block {
    std::vector<std::int64_t> times_us{};
    /// Indices into `unit_names`.
    std::vector<unit_id> units{};
    /// All different. The same name is the same unit in every block.
    std::vector<std::string> unit_names{};
    /// All spikes before this time have arrived.
    std::optional<std::int64_t> watermark_us{};
};

/// An analysis of a running recording on its own thread; the caller fetches its events one after
/// another: `run_live` turned round. If as many events wait as `most_waiting`, the analysis waits
/// until some are taken, so none is lost here. All functions are for one thread at a time, except
/// `stop`.
class SPIKEWEAVE_API live_feed {
public:
    static constexpr std::size_t most_waiting = 1024;

    /// Analyses a file or a stream, as `run_live` names them.
    /// @throws invalid_argument if an option is out of range.
    live_feed(std::string from, const live_options& options);
    /// Analyses the spikes of a recording as if they came now.
    live_feed(spike_sequence spikes, const live_options& options);
    /// Analyses the spikes that `add` gives. If the option `speed` is 0, all windows of a block are
    /// mined before the next block is wanted, whatever time they take; if it is 1, they are mined
    /// meanwhile, as those of a stream.
    explicit live_feed(const live_options& options);
    /// Ends the analysis at once if it still runs. The session that it records can be resumed.
    ~live_feed();
    live_feed(const live_feed&) = delete;
    live_feed& operator=(const live_feed&) = delete;
    live_feed(live_feed&&) noexcept;
    live_feed& operator=(live_feed&&) noexcept;

    /// The next event. Null if none comes within this time, if the analysis waits for a block, or
    /// if it is over.
    /// @throws what `run_live` throws, once all events before have been taken.
    std::optional<live_event> next(std::chrono::milliseconds patience);
    /// Whether all events have been taken.
    bool is_over() const;

    /// Whether the detections in all spikes that were given have been taken, so that more are
    /// needed.
    bool wants_block() const;
    /// Gives spikes. @throws invalid_argument if no block is wanted, there are not as many times as
    /// units, or a unit has no name; the block is then left out.
    void add(const live_block& block);
    /// No block will follow.
    void end();

    /// Ends the analysis with the results of all spikes that have arrived. Events that wait, and
    /// those that follow, are dropped. `next` is then to be called until the analysis is over.
    void stop();

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
