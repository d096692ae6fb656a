#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "live/session.hpp"
#include "live/sinks/delivery.hpp"

namespace spikeweave::live {

/// A detection in the words that go into recordings of other programs.
inline std::string marker_text(const detection& what) {
    return fmt::format("spikeweave episode={} t_us={},{}", what.armed, what.begin_us, what.end_us);
}

/// A sink that acts on detections that are triggers, all of them or those of one episode.
class reaction : public sink {
public:
    reaction(std::optional<std::uint32_t> episode, std::shared_ptr<delivery_report> report)
        : episode_(episode), report_(std::move(report)) {}

    void detected(const detection& what) override {
        if (what.is_trigger() && (!episode_ || what.armed == *episode_)) react(what);
    }

protected:
    /// Does not wait.
    virtual void react(const detection& what) = 0;
    delivery_report& report() { return *report_; }

private:
    std::optional<std::uint32_t> episode_;
    std::shared_ptr<delivery_report> report_;
};

}  // namespace spikeweave::live
