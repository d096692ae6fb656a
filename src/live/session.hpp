#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "live/armed_detectors.hpp"
#include "live/detection.hpp"
#include "live/event_order.hpp"
#include "live/source.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/mine/spade/detector.hpp"

/// The analysis of a running recording, from blocks of a source to detections and windows.
namespace spikeweave::live {

struct session_options {
    order_options order{};
    std::vector<armed_episode> armed{};
    episode_detector_options detector{};
    armed_patterns patterns{};
    trigger_options triggers{};
    /// Null: no windows.
    std::optional<episode_window_options> windows{};
};

struct session_counts {
    order_counts order{};
    std::uint64_t missing = 0;
    std::uint64_t belated = 0;
    std::uint64_t repeated = 0;
    std::uint64_t unreadable = 0;  ///< also spikes of units that the source has not told
    std::uint64_t epochs = 0;      ///< begun after the first one
    std::uint64_t detections = 0;
    suppression_counts suppressed{};  ///< of the detections
    std::uint64_t windows = 0;

    std::uint64_t triggers() const { return detections - suppressed.total(); }
    /// Whether something that was sent is not in the results.
    bool has_losses() const { return missing > belated || unreadable > 0 || order.late > 0; }
    friend bool operator==(const session_counts&, const session_counts&) = default;
};

struct mined_window {
    episode_window mined;
    /// Messages that may have had spikes of this window were lost.
    bool has_gap = false;
};

/// What takes the results of a session, in the order of the recording's time.
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
    virtual void units_added(std::span<const std::string> names) = 0;
    virtual void detected(const detection& what) = 0;
    virtual void mined(const mined_window& window) = 0;
    /// The results that follow belong to the next epoch.
    virtual void epoch_ended() = 0;
    /// It is known how often what is armed is expected by chance. Called again whenever it was
    /// measured again.
    virtual void chance_measured(const chance_rates&) {}
    /// All results of a block have been given.
    virtual void block_ended(const session_counts& counts) = 0;
    /// What became of the armed episodes, then of the patterns, at the end of the session.
    virtual void tallied(std::span<const armed_tally>) {}
    /// The last call.
    virtual void session_ended(const session_counts& counts) = 0;
};

/// Puts the spikes of a source in order and gives them to the detector and to the windows. A window
/// is given to the sink before anything that a spike at its end or later makes, so results and
/// their order do not depend on how the stream is cut into blocks.
class session {
public:
    /// @param unit_names  the units that the source knows, with all those of armed episodes
    /// @throws invalid_argument if an option is invalid or two units have the same name.
    session(std::vector<std::string> unit_names, const session_options& options, sink& results);

    /// @throws what mining a window throws; invalid_argument if a new unit has the name of another.
    void take(const source_block& block, const execution& run = {});
    /// The next windows were mined before, when the session was interrupted: they are counted, but
    /// neither mined nor given to the sink.
    void leave_out_windows(std::uint64_t count) { known_windows_ = count; }
    /// Gives out what is left, and ends the session. Windows of which it is not known that they are
    /// complete are not mined.
    void finish(const execution& run = {});

    const session_counts& counts() const { return counts_; }
    const event_order& order() const { return order_; }

private:
    // A part of the stream where messages were lost: the time from which on spikes may be missing,
    // and that from which on they are not, once it is known. Growing windows need only the first.
    struct gap {
        std::int64_t begin;
        std::optional<std::int64_t> end;
    };

    void add_units(std::span<const std::string> names);
    void open_gap();
    void close_gap(std::int64_t watermark_us);
    bool has_gap(const window_bounds& bounds) const;
    void analyse(std::span<const spike_event> spikes, const execution& run);
    void mine_before(std::int64_t time_us, const execution& run);
    std::optional<window_bounds> next_window(const execution& run);
    void end_epoch(const execution& run);

    sink* results_;
    std::size_t unit_count_;
    event_order order_;
    duration most_delay_;  // of a spike after later ones
    armed_detectors detectors_;
    std::optional<episode_windows> windows_{};
    bool windows_grow_ = false;
    std::uint64_t known_windows_ = 0;
    std::vector<gap> gaps_{};
    session_counts counts_{};
};

/// Runs a session until the source ends or a stop is requested. All results of the blocks before
/// are then complete.
/// @param abort  ends the session within a block, too: `cancelled` is thrown
void run_session(source& from, session& through, const execution& run = {},
                 const std::stop_token& abort = {});

}  // namespace spikeweave::live
