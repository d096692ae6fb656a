#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "live/arming/arming.hpp"
#include "live/session/event_order.hpp"
#include "live/windows/window_pace.hpp"
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
