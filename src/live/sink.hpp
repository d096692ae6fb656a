#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "live/arming/arming.hpp"
#include "live/detection.hpp"
#include "live/event_order.hpp"
#include "live/triggers/chance_monitor.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

/// The results of a session, and what receives them.
namespace spikeweave::live {

/// How far a window was mined: null means to the end, otherwise up to this size; 0 is a window that
/// was skipped.
using window_outcome = std::optional<std::size_t>;

struct session_counts {
    order_counts order{};
    std::uint64_t missing = 0;
    std::uint64_t belated = 0;
    std::uint64_t repeated = 0;
    std::uint64_t unreadable = 0;  ///< also spikes of units that the source has not told
    std::uint64_t epochs = 0;      ///< begun after the first one
    std::uint64_t detections = 0;
    suppression_counts suppressed{};  ///< of the detections
    std::uint64_t windows = 0;        ///< those that were mined
    std::uint64_t incomplete = 0;     ///< windows of them whose search ended early
    std::uint64_t skipped = 0;        ///< windows that were not mined
    std::uint64_t untested = 0;       ///< windows whose test did not end in its time
    std::optional<arming_counts> arming{};

    std::uint64_t triggers() const { return detections - suppressed.total(); }
    /// Whether something that was sent is not in the results.
    bool has_losses() const {
        return missing > belated || unreadable > 0 || order.late > 0 || skipped > 0;
    }
    friend bool operator==(const session_counts&, const session_counts&) = default;
};

struct mined_window {
    /// `complete_to_size` says how far it was mined.
    episode_window mined{};
    /// Messages that may have had spikes of this window were lost.
    bool has_gap = false;
    /// The block that completed it (`sink::input`).
    std::int64_t input = 0;
    std::uint64_t epoch = 0;
    /// Whether its episodes were tested for significance. Null: they were not to be tested.
    std::optional<bool> was_tested{};

    bool is_skipped() const { return mined.table.complete_to_size == std::size_t{0}; }
};

/// Windows that are too many to be reported one by one.
struct silent_range {
    silent_windows windows{};
    std::uint64_t epoch = 0;
    /// Messages that may have had spikes of these windows were lost.
    bool has_gap = false;
};

/// Receives the results of a session: detections in the order of the recording's time, and windows
/// in theirs. If windows are mined by a thread of their own, it calls `mined` and `silent` while
/// another one calls the other functions. A function that is not overridden ignores its argument.
class sink {
public:
    sink() = default;
    virtual ~sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;
    sink(sink&&) = delete;
    sink& operator=(sink&&) = delete;

    /// The names of the units that the source knows, and later of those that appear. Their ids go
    /// on.
    virtual void units_added(std::span<const std::string> /*names*/) {}
    /// Spikes that are analysed, after the detections that they made.
    virtual void accepted(std::span<const spike_event> /*spikes*/) {}
    virtual void detected(const detection& /*what*/) {}
    /// Also of windows that were skipped.
    virtual void mined(const mined_window& /*window*/) {}
    /// Windows, one after another, in which nothing came, and which are not given one by one.
    virtual void silent(const silent_range& /*windows*/) {}
    /// The counts of the armed episodes in the window [begin, end).
    virtual void counted(const time_span& /*window*/, std::span<const std::uint64_t> /*counts*/) {}
    /// The number of the last block in the record of the session.
    virtual std::int64_t input() const { return 0; }
    /// Episodes were armed or disarmed as a window decided. Also called if it changed nothing.
    virtual void arming_changed(const arming_change&) {}
    /// While a record is replayed, the results that come have been given before, and nothing may
    /// change but what is in the record.
    virtual bool takes_new_results() const { return true; }
    /// The results that follow belong to the next epoch.
    virtual void epoch_ended() {}
    /// The chance rates of the armed episodes have been estimated; called after every new estimate.
    virtual void chance_measured(const chance_rates&) {}
    /// All results of a block have been given.
    virtual void block_ended(const session_counts& /*counts*/) {}
    /// The session is ending; the results that follow exist only because it ends.
    virtual void session_ends() {}
    /// The final counts of the armed episodes, then of the patterns.
    virtual void tallied(std::span<const armed_tally>) {}
    /// The last call.
    virtual void session_ended(const session_counts& /*counts*/) {}
};

}  // namespace spikeweave::live
