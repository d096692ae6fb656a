#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "live/sinks/delivery.hpp"
#include "live/sinks/sink.hpp"
#include "spikeweave/live/events.hpp"

namespace spikeweave::live {

/// Tells of the first loss, and again whenever twice as much is lost.
class loss_alarm {
public:
    /// All losses so far, if they are to be told now.
    std::optional<live_alarm> raise(const session_counts& counts) {
        live_alarm now = losses_of(counts);
        const std::uint64_t lost = now.missing + now.unreadable + now.late;
        if (lost == 0 || lost < 2 * told_) return {};
        told_ = lost;
        return now;
    }

    static live_alarm losses_of(const session_counts& counts) {
        return {.missing = counts.missing - counts.belated,
                .unreadable = counts.unreadable,
                .late = counts.order.late};
    }

private:
    std::uint64_t told_ = 0;
};

/// Tells of each destination that it has failed, and again whenever twice as much is lost.
class delivery_alarms {
public:
    explicit delivery_alarms(delivery_reports reports)
        : reports_(std::move(reports)), told_(reports_.size()) {}

    /// @param tell  takes the report, and how many results are lost
    template <class Tell>
    void raise(Tell tell) {
        for (std::size_t i = 0; i < reports_.size(); ++i) {
            const delivery_report& one = *reports_[i];
            if (!one.has_trouble()) continue;
            const std::uint64_t lost = one.lost();
            if (told_[i] && lost < std::max<std::uint64_t>(2 * *told_[i], 1)) continue;
            told_[i] = lost;
            tell(one, lost);
        }
    }

private:
    delivery_reports reports_;
    std::vector<std::optional<std::uint64_t>> told_;  // null: there was no alarm yet
};

}  // namespace spikeweave::live
