#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The content of the file of a session of `run_live`: spikes, windows, detections and losses.
namespace spikeweave {

/// An episode or pattern that is or was armed in a session. Detections have its number.
struct session_armed {
    std::vector<std::string> units{};
    /// Of an episode: a delay for each step. Empty for a pattern.
    std::vector<delay_interval> delays{};
    /// Of a pattern: the time of each unit after the left edge of its first bin.
    std::vector<duration> lags{};
    std::size_t fire_at = 0;  ///< the spike at which an episode is detected; 0: its last one
    bool is_automatic = false;
};

struct session_detection {
    std::uint64_t epoch = 0;
    std::size_t armed = 0;
    std::vector<std::int64_t> times_us{};
    /// Why it was no trigger, as of `live_detection`.
    std::string_view suppressed{};
};

/// A change of what is armed, as of `live_arming`.
struct session_change {
    std::uint64_t epoch = 0;
    /// Null: it holds from the beginning of the epoch.
    std::optional<std::int64_t> from_us{};
    std::string_view change{};
    session_armed what{};
    std::optional<std::size_t> number{};
    std::int64_t window = 0;
    std::uint64_t window_epoch = 0;
    bool is_late = false;
    std::optional<double> per_minute{};
};

/// The losses with one block of the source, between the last time before it and its own last one.
struct session_loss {
    std::uint64_t epoch = 0;
    std::int64_t begin_us = 0;
    std::int64_t end_us = 0;
    std::uint64_t missing = 0;     ///< messages that never came, less those that came later
    std::uint64_t unreadable = 0;  ///< messages, or spikes of unknown units
    std::uint64_t late = 0;        ///< spikes that came too late and were left out
    std::uint64_t unrecorded = 0;  ///< records that are not in the file
};

struct session_window {
    std::uint64_t epoch = 0;
    episode_window mined{};  ///< by the units of `recorded_session`; without `levels`
    bool has_gap = false;

    bool is_skipped() const { return mined.table.complete_to_size == std::size_t{0}; }
};

/// Everything that the file of a session says, but the tables of its windows.
struct session_content {
    /// The spikes that were analysed, of each epoch. All have the same units, in natural order.
    std::vector<spike_sequence> epochs{};
    std::vector<session_armed> armed{};
    std::vector<session_detection> detections{};
    std::vector<session_change> changes{};
    std::vector<session_loss> losses{};
    /// Those by which windows were mined; null if there were none.
    std::optional<episode_window_options> windows{};
    std::string program{};                ///< and its version
    parameter_list asked{};               ///< the options of the session
    std::vector<std::string> warnings{};  ///< of the source at its end, as full sentences
    std::uint64_t duplicates = 0;  ///< second spikes of a unit at a time, which were left out
    std::uint64_t repeated = 0;    ///< messages that had come before and were left out
    /// Whether the session has ended. Otherwise it continues or was interrupted, and the file has
    /// what there was by then.
    bool has_ended = false;
};

/// The file of a session, as it was when it was opened; the session may continue.
class SPIKEWEAVE_API recorded_session {
public:
    /// @throws io_error if the file is no session or damaged; cancelled.
    explicit recorded_session(const std::filesystem::path& path, const execution& run = {});
    ~recorded_session();
    recorded_session(const recorded_session&) = delete;
    recorded_session& operator=(const recorded_session&) = delete;
    recorded_session(recorded_session&&) noexcept;
    recorded_session& operator=(recorded_session&&) noexcept;

    const session_content& content() const;
    std::size_t window_count() const;
    /// Calls `take` with each window in the order in which they were mined, or with those that are
    /// numbers of `every`: 2 leaves out every other one. To be called once.
    /// @throws io_error if a window is damaged; cancelled; what `take` throws.
    void each_window(const std::function<void(session_window&&)>& take, std::size_t every = 1,
                     const execution& run = {});

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
