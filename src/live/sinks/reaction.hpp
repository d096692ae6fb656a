#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "live/sinks/delivery.hpp"
#include "live/sinks/destination.hpp"
#include "live/sinks/sink.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

/// A detection in the words that go into recordings of other programs.
inline std::string marker_text(const detection& what) {
    return fmt::format("spikeweave episode={} t_us={},{}", what.armed, what.begin_us, what.end_us);
}

/// A sink that acts on detections that are triggers, all of them or those of one episode.
class reaction : public sink {
public:
    reaction(const destination& to, std::shared_ptr<delivery_report> report)
        : episode_(to.episode), report_(std::move(report)) {
        if (stimulates(to.kind)) max_age_ = to.max_age;
    }

    void take(const event& what) final {
        what.visit(handlers{[&](const detection& one) { react_in_time(one); },
                            [&](const session_ended&) { finish(); }});
    }

protected:
    /// Does not wait.
    virtual void react(const detection& what) = 0;
    /// Nothing follows.
    virtual void finish() {}
    /// When it is too late to act. Null: never, or it is not known when the spikes came.
    std::optional<std::chrono::steady_clock::time_point> deadline_of(const detection& what) const {
        if (!max_age_ || !what.arrived_after) return {};
        return *what.arrived_after + *max_age_;
    }
    std::string too_old() const {
        return fmt::format("spikes had come more than {} before", format_duration(*max_age_));
    }
    delivery_report& report() { return *report_; }

private:
    void react_in_time(const detection& what) {
        if (!what.is_trigger() || (episode_ && what.armed != *episode_)) return;
        const auto deadline = deadline_of(what);
        if (deadline && std::chrono::steady_clock::now() > *deadline)
            report_->tell_lost(too_old());
        else
            react(what);
    }

    std::optional<std::uint32_t> episode_;
    std::optional<duration> max_age_{};
    std::shared_ptr<delivery_report> report_;
};

}  // namespace spikeweave::live
