#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "live/sink.hpp"
#include "live/sinks/delivery.hpp"
#include "live/sinks/loss_alarm.hpp"
#include "live/sinks/unit_names.hpp"
#include "spikeweave/live/events.hpp"

namespace spikeweave::live {

using event_taker = std::function<void(live_event)>;

/// Gives results as the values of public headers, one at a time, without the one at the end.
class event_results : public sink {
public:
    /// @param armed  and the patterns are those of the session
    /// @param reports  of destinations of which an alarm tells if they fail
    event_results(std::vector<armed_episode> armed, armed_patterns patterns, event_taker take,
                  delivery_reports reports = {});

    void units_added(std::span<const std::string> names) override;
    void detected(const detection& what) override;
    void mined(const mined_window& window) override;
    void counted(const time_span& window, std::span<const std::uint64_t> counts) override;
    void arming_changed(const arming_change& change) override;
    void epoch_ended() override;
    void chance_measured(const chance_rates& rates) override;
    void block_ended(const session_counts& counts) override;
    void session_ended(const session_counts& counts) override;

private:
    void give(live_event event);

    std::vector<armed_episode> armed_;
    armed_patterns patterns_;
    std::vector<episode> armed_later_{};  // automatically
    event_taker take_;
    std::mutex taking_{};
    unit_names units_{};
    loss_alarm alarm_{};
    delivery_alarms failures_;
    std::uint64_t epochs_ = 0;
};

}  // namespace spikeweave::live
