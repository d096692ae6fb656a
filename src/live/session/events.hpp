#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "live/arming/arming.hpp"
#include "live/detection/detection.hpp"
#include "live/session/event_order.hpp"
#include "live/triggers/chance_monitor.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

/// Events of a session: its results, and the beginnings and ends of the things they belong to.
namespace spikeweave::live {

struct session_counts {
    order_counts order{};
    std::uint64_t missing = 0;
    std::uint64_t belated = 0;
    std::uint64_t repeated = 0;
    std::uint64_t unreadable = 0;  ///< also spikes of units that the source has not told
    std::uint64_t epochs = 0;      ///< begun after the first one
    std::uint64_t detections = 0;
    suppression_counts suppressed{};  ///< of the detections
    std::size_t monitored = 0;        ///< episodes and patterns that were ever armed
    std::size_t patterns = 0;         ///< the patterns of them
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

/// The names of the units that the source knows, and later of those that appear. Their ids go on.
struct units_added {
    std::span<const std::string> names;
};

/// Spikes that are analysed, after the detections that they made.
struct spikes_accepted {
    std::span<const spike_event> spikes;
};

/// A window is complete, and was mined or skipped.
struct mined_window {
    /// `complete_to_size` says how far it was mined.
    episode_window mined{};
    /// Messages that may have had spikes of this window were lost.
    bool has_gap = false;
    /// The block that completed it (`record_place::input`).
    std::int64_t input = 0;
    std::uint64_t epoch = 0;
    /// Whether its episodes were tested for significance. Null: they were not to be tested.
    std::optional<bool> was_tested{};

    bool is_skipped() const { return mined.table.complete_to_size == std::size_t{0}; }
};

/// Windows, one after another, in which nothing came, and which are too many to be given one by
/// one.
struct silent_range {
    silent_windows windows{};
    std::uint64_t epoch = 0;
    /// Messages that may have had spikes of these windows were lost.
    bool has_gap = false;
};

/// The counts of the armed episodes in the window [begin, end).
struct counts_in_window {
    time_span window{};
    std::span<const std::uint64_t> counts;
};

/// The results that follow belong to the next epoch.
struct epoch_ended {};

/// All results of a block have been given.
struct block_ended {
    const session_counts& counts;
};

/// Samples are sorted long after they came.
struct samples_waiting {
    double behind_s = 0;  ///< of the last ones, at most
};

/// The session is ending; the results that follow exist only because it ends.
struct session_ends {};

/// The final counts of the armed episodes, then of the patterns.
struct armed_tallied {
    std::span<const armed_tally> armed;
};

/// The last event.
struct session_ended {
    const session_counts& counts;
};

/// Something that happens in a session. It refers to what it tells, so it is valid only while a
/// sink takes it. Besides what is declared here:
/// - a `detection`, in the order of the recording's time;
/// - `chance_rates` of the armed episodes after every new estimate;
/// - `samples_waiting`, which is not a result;
/// - an `arming_change`, also if a window that decided has changed nothing.
class event {
public:
    template <class What>
    event(const What& what) : what_(&what) {}

    /// Calls a function that takes everything that can happen; see `handlers`.
    template <class Function>
    void visit(Function&& function) const {
        std::visit([&](const auto* what) { function(*what); }, what_);
    }

private:
    std::variant<const units_added*, const spikes_accepted*, const detection*, const mined_window*,
                 const silent_range*, const counts_in_window*, const arming_change*,
                 const epoch_ended*, const chance_rates*, const block_ended*, const session_ends*,
                 const armed_tallied*, const session_ended*, const samples_waiting*>
        what_;
};

/// Functions for some of what can happen, as one that ignores all else.
template <class... Functions>
struct handlers : Functions... {
    using Functions::operator()...;
    void operator()(const auto& /*other*/) const {}
};
template <class... Functions>
handlers(Functions...) -> handlers<Functions...>;

}  // namespace spikeweave::live
