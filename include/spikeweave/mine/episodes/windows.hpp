#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"

/// Frequent episodes in windows of a stream of spikes. The table of a window is that of
/// `mine_episodes` in the spikes of the window (docs/algorithms/live.md).
namespace spikeweave {

/// Window k begins at k times `hop`. It ends `length` later; a growing window begins with the first
/// one and ends `hop` after k times `hop`. Times are those of the spikes.
struct episode_window_options {
    /// 0: windows grow.
    duration length = std::chrono::seconds{10};
    /// 0: as long as the window, so that each spike is in one window.
    duration hop{0};
    /// A threshold that is not a count is resolved for each window.
    episode_mining_options mining{};
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

/// The spikes of a complete window. They can be mined on another thread while the stream goes on,
/// and until then take 12 bytes each; windows that overlap share them.
class SPIKEWEAVE_API window_spikes {
public:
    const window_bounds& bounds() const { return bounds_; }
    std::size_t size() const { return size_; }
    /// A copy of them, which `mine_episodes` takes.
    spike_sequence sequence() const;

private:
    friend class episode_windows;
    struct SPIKEWEAVE_LOCAL parts;
    window_spikes(const window_bounds& bounds, std::shared_ptr<const parts> kept);

    window_bounds bounds_;
    std::size_t size_ = 0;
    std::shared_ptr<const parts> kept_;
};

/// Cuts a stream into windows and mines them.
///
/// The first window of an epoch is the one that begins last before its first spike, or with it. A
/// window is complete once all spikes before its end have come, and a window of which this is never
/// known is not mined. Spikes are kept in 12 bytes each until no window needs them.
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
    /// Takes a spike; all earlier ones have come. A second spike of a unit at the same time is
    /// dropped, as `spike_sequence_builder` does.
    /// @throws invalid_argument if the spike is earlier than one before it or than a time given to
    /// `advance`, or its unit is unknown; the spike is then left out.
    void add(std::int64_t time_us, unit_id unit);
    /// Takes several spikes. @throws invalid_argument if there are not as many times as units, and
    /// like the other `add`; the spikes before an invalid one are then taken.
    void add(std::span<const std::int64_t> times_us, std::span<const unit_id> units);
    /// All spikes before this time have come. An earlier time than before changes nothing.
    void advance(std::int64_t time_us);

    /// The next window, if it is complete.
    std::optional<window_bounds> complete() const;
    /// Mines the next window, if it is complete.
    /// @throws what `mine_episodes` throws; the window is then still the next one.
    std::optional<episode_window> next(const execution& run = {});
    /// Takes the spikes of the next window, if it is complete, and leaves its search to the caller.
    std::optional<window_spikes> take();
    /// Leaves the next window out, if it is complete.
    std::optional<window_bounds> skip();

    /// Ends the epoch: forgets the spikes and the windows that are not complete, and also those
    /// that were not mined. The times that follow may start anywhere.
    void flush();

    /// The number of spikes that were dropped because they were given twice.
    std::uint64_t duplicates() const;
    /// The number of spikes that are kept for windows to come.
    std::size_t spikes_kept() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::optional<window_spikes> peek() const;

    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
