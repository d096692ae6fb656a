#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"
#include "live/windows/window_miner.hpp"
#include "live/windows/window_search.hpp"

namespace spikeweave::live {

/// The windows of a session: which are complete, which lack spikes, and who mines them.
class session_windows {
public:
    /// @param decider  decides from windows what is armed; null: nothing does
    session_windows(std::vector<std::string> unit_names, const episode_window_options& options,
                    const window_pace& pace, sink& results, arming_decider* decider = nullptr);

    void add_unit(std::string name) { windows_.add_unit(std::move(name)); }
    void add(const spike_event& spike) { windows_.add(spike.time_us, spike.unit); }
    /// From this time on spikes may be missing.
    void open_gap(std::int64_t begin);
    /// The first watermark beyond a gap ends it. Lost spikes may have been `most_delay` later.
    void close_gap(std::int64_t watermark_us, duration most_delay);
    /// All spikes before this time have come. @throws what mining a window throws.
    void mine_before(std::int64_t time_us, const execution& run);
    void end_epoch();
    /// Waits until all windows have been mined. @throws what mining a window throws.
    void finish();
    /// @throws what mining a window has thrown.
    void throw_if_failed() const;

    /// The first windows were recorded, and are mined as far as they were then, and tested if
    /// they were. Later ones are skipped, because there is nothing to compare them with.
    void mine_as_recorded(std::vector<recorded_outcome> recorded);
    /// The first windows were recorded, and are only counted. Those on which later decisions
    /// depend are mined again and decide again.
    void leave_out(std::vector<recorded_outcome> recorded);

    window_counts counts() const;

private:
    // A part of the stream where messages were lost: the time from which on spikes may be missing,
    // and that from which on they are not, once it is known. Growing windows need only the first.
    struct gap {
        std::int64_t begin;
        std::optional<std::int64_t> end;
    };

    enum class recorded_use : std::uint8_t { none, mined_again, left_out };

    bool has_gap(duration begin, duration end) const;
    void give(window_task task);
    void skip_silent();
    void forget_gaps_before(duration time);
    void mine(const window_spikes& spikes, const execution& run);

    sink* results_;
    bool windows_grow_;
    episode_windows windows_;
    std::vector<gap> gaps_{};
    std::uint64_t epoch_ = 0;
    arming_decider* decider_;
    std::uint64_t decisions_ = 0;
    std::deque<recorded_outcome> recorded_{};  // of the next windows
    recorded_use recorded_are_ = recorded_use::none;
    window_counts left_out_{};
    window_search search_;
    std::unique_ptr<window_miner> beside_{};  // null: windows are mined where spikes are taken
};

}  // namespace spikeweave::live
