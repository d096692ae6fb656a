#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "live/detection/armed_detectors.hpp"
#include "live/session/event_order.hpp"
#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"
#include "live/sources/source.hpp"
#include "spikeweave/core/execution.hpp"

/// The analysis of a running recording, from blocks of a source to detections and windows.
namespace spikeweave::live {

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
