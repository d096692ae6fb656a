#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "live/sinks/delivery.hpp"
#include "live/sinks/loss_alarm.hpp"
#include "live/sinks/sink.hpp"
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

    void take(const event& what) override {
        what.visit([this](const auto& one) { on(one); });
    }

private:
    void on(const units_added& more);
    void on(const detection& what);
    void on(const mined_window& window);
    void on(const counts_in_window& now);
    void on(const arming_change& change);
    void on(const epoch_ended& /*end*/);
    void on(const chance_rates& rates);
    void on(const block_ended& block);
    void on(const session_ended& end);
    void on(const samples_waiting& now);
    void on(const auto& /*other*/) {}
    void tell_losses(const session_counts& counts);
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
