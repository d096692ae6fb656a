#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "live/armed_detectors.hpp"
#include "live/arming/arming.hpp"
#include "live/detection.hpp"
#include "live/event_order.hpp"
#include "live/source.hpp"
#include "live/window_pace.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/mine/spade/detector.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The analysis of a running recording, from blocks of a source to detections and windows.
namespace spikeweave::live {

/// How the counts of armed episodes are followed.
struct tracking_options {
    duration every{0};   ///< at the multiples of this time; 0: never
    duration length{0};  ///< of the window that ends there; 0: since the first spike
};

struct session_options {
    order_options order{};
    std::vector<armed_episode> armed{};
    episode_detector_options detector{};
    armed_patterns patterns{};
    trigger_options triggers{};
    /// Null: no windows.
    std::optional<episode_window_options> windows{};
    window_pace pace{};
    tracking_options tracking{};
    /// Null: nothing is armed automatically. Otherwise there are windows.
    std::optional<arming_settings> arming{};
};

/// How far a window was mined: null means to the end, otherwise up to this size; 0 is a window that
/// was skipped.
using window_outcome = std::optional<std::size_t>;

/// What a record says of a window that depended on how much time there was.
struct recorded_outcome {
    window_outcome mined{};
    std::optional<bool> was_tested{};  ///< as of `mined_window`

    friend bool operator==(const recorded_outcome&, const recorded_outcome&) = default;
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

/// Windows that are so many that only this is told of them.
struct silent_range {
    silent_windows windows{};
    std::uint64_t epoch = 0;
    /// Messages that may have had spikes of these windows were lost.
    bool has_gap = false;
};

/// What takes the results of a session: detections in the order of the recording's time, and
/// windows in theirs. If windows are mined by a thread of their own, it calls `mined` and `silent`
/// while another one calls the other functions. A function that is not overridden ignores what it
/// is given.
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
    /// It is known how often what is armed is expected by chance. Called again whenever it was
    /// measured again.
    virtual void chance_measured(const chance_rates&) {}
    /// All results of a block have been given.
    virtual void block_ended(const session_counts& /*counts*/) {}
    /// The session ends, whatever comes: the results that follow would not be there if it went on.
    virtual void session_ends() {}
    /// What became of the armed episodes, then of the patterns, at the end of the session.
    virtual void tallied(std::span<const armed_tally>) {}
    /// The last call.
    virtual void session_ended(const session_counts& /*counts*/) {}
};

class auto_arming;
class session_windows;
class tracked_counts;

/// Puts the spikes of a source in order and gives them to the detector and to the windows.
/// Detections and their order do not depend on how the stream is cut into blocks, and neither do
/// windows. If windows are mined where spikes are taken, a window is also given to the sink before
/// anything that a spike at its end or later makes.
class session {
public:
    /// @param unit_names  the units that the source knows, with all those of armed episodes
    /// @throws invalid_argument if an option is invalid or two units have the same name.
    session(std::vector<std::string> unit_names, const session_options& options, sink& results);
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    session(session&&) = delete;
    session& operator=(session&&) = delete;

    /// @throws what mining a window throws; invalid_argument if a new unit has the name of another.
    void take(const source_block& block, const execution& run = {});
    /// The first windows were recorded, before the session was interrupted: they are counted, but
    /// neither mined nor given to the sink.
    void leave_out_windows(std::vector<recorded_outcome> recorded);
    /// The first windows were recorded, and are mined as far as they were then, and tested if they
    /// were; later ones are skipped.
    void mine_as_recorded(std::vector<recorded_outcome> recorded);
    /// The session was interrupted after decisions of windows had made these changes.
    void resume_arming(std::vector<arming_change> recorded);
    /// Decisions of windows take effect where they did when the session was recorded.
    void arm_as_recorded(std::vector<stream_position> recorded);
    /// Gives out what is left, and ends the session. Windows of which it is not known that they are
    /// complete are not mined.
    void finish(const execution& run = {});

    const session_counts& counts() const { return counts_; }
    const event_order& order() const { return order_; }

private:
    void add_units(std::span<const std::string> names);
    void analyse(std::span<const spike_event> spikes, const execution& run);
    void end_epoch(const execution& run);
    void update_counts();

    sink* results_;
    std::size_t unit_count_;
    event_order order_;
    duration most_delay_;  // of a spike after later ones
    armed_detectors detectors_;
    session_counts counts_{};
    std::unique_ptr<tracked_counts> tracked_{};   // null: counts are not followed
    std::unique_ptr<auto_arming> arming_{};       // null: nothing is armed automatically
    std::unique_ptr<session_windows> windows_{};  // null: no windows
};

/// Runs a session until the source ends or a stop is requested. All results of the blocks before
/// are then complete.
/// @param abort  ends the session within a block, too: `cancelled` is thrown, and a session that is
///               recorded can be resumed
void run_session(source& from, session& through, const execution& run = {},
                 const std::stop_token& abort = {});

}  // namespace spikeweave::live
