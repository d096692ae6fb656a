#pragma once

#include <cstdint>
#include <optional>

#include "spikeweave/core/time.hpp"
#include "spikeweave/live/run.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

namespace spikeweave::live {

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

/// Windows of spikes that come in real time, or as if they did, have until the next one is
/// complete, unless the options say otherwise.
window_pace pace_of(const live_options& options, const episode_window_options& windows);

}  // namespace spikeweave::live
