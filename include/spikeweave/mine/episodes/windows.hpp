#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Frequent episodes in windows of a stream of spikes. The table of a window is that of
/// `mine_episodes` in the spikes of the window (docs/algorithms/live.md).
namespace spikeweave {

/// The methods of mining windows that overlap. The tables are the same.
enum class window_method : std::uint8_t {
    automatic,  ///< `incremental` if the hop is a twentieth of the window or less, and the strategy
                ///< is `automatic` or `latest_start` on threads
    remine,     ///< each window by itself, with any strategy, on threads or devices
    incremental,  ///< from the window before, by one thread: lists of survivors are kept, and only
                  ///< candidates that may have become frequent are counted; where they would need
                  ///< more memory than they may, windows are mined by themselves
};

template <>
SPIKEWEAVE_API enum_table<window_method> enum_names<window_method>();

/// Window k begins at k times `hop`. It ends `length` later; a growing window begins with the first
/// one and ends `hop` after k times `hop`. Times are those of the spikes.
struct episode_window_options {
    /// 0: windows grow.
    duration length = std::chrono::seconds{10};
    /// 0: as long as the window, so that each spike is in one window.
    duration hop{0};
    /// A threshold that is not a count is resolved for each window.
    episode_mining_options mining{.delays = default_delays()};
    window_method method = window_method::automatic;
};

SPIKEWEAVE_API option_list describe(episode_window_options& options);

/// The interval [begin, end) of a window.
struct window_bounds {
    std::int64_t number = 0;
    duration begin{0};
    duration end{0};

    friend bool operator==(const window_bounds&, const window_bounds&) = default;
};

struct episode_window {
    window_bounds bounds;
    std::size_t spikes = 0;
    episode_table table{};
};

/// Consecutive windows, none of which contains a spike that the one before it did not contain.
struct silent_windows {
    window_bounds first{};
    window_bounds last{};
};

/// The spikes of a complete window. They can be mined on another thread while the stream continues,
/// and until then need 12 bytes each; windows that overlap share them.
class SPIKEWEAVE_API window_spikes {
public:
    const window_bounds& bounds() const { return bounds_; }
    std::size_t size() const { return size_; }
    /// A copy of them, as input of `mine_episodes`.
    spike_sequence sequence() const;

private:
    friend class episode_windows;
    friend class episode_window_miner;
    struct SPIKEWEAVE_LOCAL parts;
    window_spikes(const window_bounds& bounds, std::shared_ptr<const parts> kept);

    window_bounds bounds_;
    std::size_t size_ = 0;
    std::shared_ptr<const parts> kept_;
};

/// Mines windows one after another. Windows that follow each other in a stream are mined
/// incrementally if this is the method; any others may be given, too.
class SPIKEWEAVE_API episode_window_miner {
public:
    /// @throws invalid_argument if an option is out of range.
    explicit episode_window_miner(const episode_window_options& options);
    ~episode_window_miner();
    episode_window_miner(const episode_window_miner&) = delete;
    episode_window_miner& operator=(const episode_window_miner&) = delete;
    episode_window_miner(episode_window_miner&&) noexcept;
    episode_window_miner& operator=(episode_window_miner&&) noexcept;

    /// The table that `mine_episodes` returns. The work recorded for its levels is that of the
    /// method.
    /// @throws like `mine_episodes`.
    episode_table mine(const window_spikes& spikes, const execution& run = {},
                       const std::stop_token& enough = {});
    /// The number of windows that were mined from the one before.
    std::uint64_t mined_incrementally() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

/// Cuts a stream into windows and mines them.
///
/// The first window of an epoch is the one that begins last before its first spike, or with it. A
/// window is complete once all spikes before its end have arrived, and a window for which this is
/// never known is not mined. Spikes are kept in 12 bytes each until no window needs them.
class SPIKEWEAVE_API episode_windows {
public:
    /// @param unit_names  of the units of spikes, all different
    /// @throws invalid_argument if an option is out of range or two units have the same name.
    explicit episode_windows(std::vector<std::string> unit_names,
                             const episode_window_options& options = {});
    ~episode_windows();
    episode_windows(const episode_windows&) = delete;
    episode_windows& operator=(const episode_windows&) = delete;
    episode_windows(episode_windows&&) noexcept;
    episode_windows& operator=(episode_windows&&) noexcept;

    /// Adds a unit, whose number is the next one. Windows without spikes of a unit have the same
    /// table with and without it.
    /// @throws invalid_argument if there is a unit of this name.
    void add_unit(std::string name);
    /// Processes a spike; all earlier ones have arrived. A second spike of a unit at the same time
    /// is dropped, as `spike_sequence_builder` does.
    /// @throws invalid_argument if the spike is earlier than one before it or than a time given to
    /// `advance`, or its unit is unknown; the spike is then left out.
    void add(std::int64_t time_us, unit_id unit);
    /// Processes several spikes. @throws invalid_argument if there are not as many times as units,
    /// and like the other `add`; the spikes before an invalid one are then taken.
    void add(std::span<const std::int64_t> times_us, std::span<const unit_id> units);
    /// All spikes before this time have arrived. An earlier time than before changes nothing.
    void advance(std::int64_t time_us);

    /// The next window, if it is complete.
    std::optional<window_bounds> complete() const;
    /// Mines the next window, if it is complete.
    /// @throws like `mine_episodes`; the window is then still the next one.
    std::optional<episode_window> next(const execution& run = {});
    /// Takes the spikes of the next window, if it is complete, and leaves its search to the caller.
    std::optional<window_spikes> take();
    /// Leaves the next window out, if it is complete.
    std::optional<window_bounds> skip();

    /// Whether the next window is complete and contains no spike that the one before it did not
    /// contain.
    bool next_is_silent() const;
    /// Leaves out all windows up to the last one that is complete and silent; null: there is none.
    std::optional<silent_windows> skip_silent();

    /// Ends the epoch: forgets the spikes and the windows that are not complete, and also those
    /// that were not mined. The times that follow may start anywhere.
    void flush();

    /// The number of spikes that were dropped because they were given twice.
    std::uint64_t duplicates() const;
    /// The number of spikes that are kept for later windows.
    std::size_t spikes_kept() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::optional<window_spikes> peek() const;

    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
