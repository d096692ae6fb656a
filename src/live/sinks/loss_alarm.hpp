#pragma once

#include <cstdint>
#include <optional>

#include "live/session.hpp"
#include "spikeweave/live/events.hpp"

namespace spikeweave::live {

/// Tells of the first loss, and again whenever twice as much is lost.
class loss_alarm {
public:
    /// All losses so far, if they are to be told now.
    std::optional<live_alarm> raise(const session_counts& counts) {
        const live_alarm now{.missing = counts.missing - counts.belated,
                             .unreadable = counts.unreadable,
                             .late = counts.order.late};
        const std::uint64_t lost = now.missing + now.unreadable + now.late;
        if (lost == 0 || lost < 2 * told_) return {};
        told_ = lost;
        return now;
    }

private:
    std::uint64_t told_ = 0;
};

}  // namespace spikeweave::live
