#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/live/run.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

/// The results of an analysis while a recording runs, as values.
namespace spikeweave {

/// An armed episode or pattern has occurred.
struct live_detection {
    bool is_pattern = false;
    /// Among the given episodes, or among the patterns. Episodes that were armed automatically have
    /// the numbers after those of both.
    std::size_t number = 0;
    std::vector<std::string> units{};  ///< names, in the order of firing, or of a pattern's items
    std::vector<std::int64_t> times_us{};
    /// The first spike of an episode; the left edge of the first bin of a pattern.
    std::int64_t begin_us = 0;
    /// Why this is no trigger: "hold-off", "rate", "mute" or "unchecked"; empty if it is one.
    std::string suppressed{};
};

/// A window is complete, and was mined or skipped.
struct live_window {
    episode_window mined{};  ///< its episodes by the natural order of their units
    /// The names of the units so far.
    std::shared_ptr<const std::vector<std::string>> unit_names{};
    /// Messages that may have had spikes of this window were lost.
    bool has_gap = false;
    std::uint64_t epoch = 0;

    /// Whether it was not mined.
    bool is_skipped() const { return mined.table.complete_to_size == std::size_t{0}; }
};

/// The counts of the armed episodes in a window of time (`track_every`).
struct live_counts {
    time_span window{};
    std::vector<std::uint64_t> counts{};
};

/// The rates at which the armed episodes, then the patterns, are expected by chance, from the rates
/// in an interval.
struct live_chance {
    time_span interval{};
    std::vector<double> per_minute{};
};

/// An episode was armed or disarmed automatically (`arm`), or was not armed although the rule asks
/// for it.
struct live_arming {
    /// "armed", "disarmed", or why it was not armed, which is reported once: "max-false-alarms" or
    /// "max-armed".
    std::string change{};
    /// Its number in detections; null if it was not armed.
    std::optional<std::size_t> number{};
    std::vector<std::string> units{};  ///< names, in the order of firing
    std::vector<delay_interval> delays{};
    /// It counts for the spikes from here on.
    std::int64_t from_us = 0;
    std::int64_t window = 0;  ///< the number of the window that decided it
    std::uint64_t window_epoch = 0;
    /// Spikes had been processed for which it should have counted.
    bool is_late = false;
    /// The rate at which it is expected by chance, if units fire independently; null if it was
    /// disarmed.
    std::optional<double> per_minute{};
};

/// Something was lost: all losses so far, reported at the first one and whenever they have doubled.
/// Or a destination has failed, which is reported in the same way. Or samples wait for sorting,
/// reported from 1 s on and whenever that time has doubled.
struct live_alarm {
    std::uint64_t missing = 0;      ///< messages, or frames of samples, that have not come
    std::uint64_t unreadable = 0;   ///< messages that could not be read
    std::uint64_t late = 0;         ///< spikes that came too late and were left out
    std::string to{};               ///< the destination, as it was given; empty: the source lost it
    std::uint64_t undelivered = 0;  ///< results that the destination did not take
    std::string reason{};           ///< the last error of the destination
    /// The time in seconds that samples wait; null for an alarm about a loss.
    std::optional<double> behind_s{};
};

/// The clock was set: nothing that began before continues.
struct live_epoch {
    std::uint64_t number = 0;  ///< 1 for the first one that begins while the analysis runs
};

/// The last event of every analysis is its result.
using live_event = std::variant<live_detection, live_window, live_counts, live_chance, live_arming,
                                live_alarm, live_epoch, live_result>;

/// The same as `run_live` with lines of JSON, but with results as values, for the caller. What the
/// options name besides gets its results as well.
/// @param take  is called by one thread at a time, but not always by the same one. Windows come in
/// the order of the recording's time, and so do all others; where windows are mined by a thread of
/// their own, a window comes when it has been mined.
SPIKEWEAVE_API live_result run_live(const std::string& from, const live_options& options,
                                    const std::function<void(live_event)>& take,
                                    const execution& run = {}, const std::stop_token& abort = {});

}  // namespace spikeweave
