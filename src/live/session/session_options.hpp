#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "live/arming/arming.hpp"
#include "live/session/event_order.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/live/triggers.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave::live {

/// Options of following the counts of armed episodes.
struct tracking_options {
    duration every{0};   ///< at the multiples of this time; 0: never
    duration length{0};  ///< of the window that ends there; 0: since the first spike
};

/// Who mines windows, and what that may take. It changes no table of a window that was mined to the
/// end.
struct window_pace {
    /// Windows are mined by a thread of their own, so that detections do not wait for them.
    bool beside = false;
    /// The time from when a window is complete to the end of its search. Null: as long as it takes.
    std::optional<duration> budget{};
    /// The resident memory of the process at which the search of a window ends; 0: any.
    std::uint64_t max_memory_bytes = 0;
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

/// The size up to which a window was mined: null means to the end, and 0 is a window that was
/// skipped.
using window_outcome = std::optional<std::size_t>;

/// The outcome of a window that depended on the available time, as recorded.
struct recorded_outcome {
    window_outcome mined{};
    std::optional<bool> was_tested{};  ///< as of `mined_window`

    friend bool operator==(const recorded_outcome&, const recorded_outcome&) = default;
};

}  // namespace spikeweave::live
