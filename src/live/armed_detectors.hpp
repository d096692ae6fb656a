#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "live/detection.hpp"
#include "live/triggers/chance_monitor.hpp"
#include "live/triggers/trigger_gate.hpp"
#include "spikeweave/mine/episodes/detector.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave::live {

class sink;
struct session_options;

/// Detects what is armed, decides which detections are triggers, and gives them to a sink.
class armed_detectors {
public:
    /// @param unit_count  the units of what is armed are below this; others may follow
    /// @throws invalid_argument if an option is invalid, or what is armed.
    armed_detectors(const session_options& options, std::size_t unit_count, sink& results);

    void add(std::int64_t time_us, unit_id unit);
    void end_epoch();

    std::uint64_t detections() const { return detections_; }
    const suppression_counts& suppressed() const { return suppressed_; }
    /// Of the episodes, then of the patterns.
    std::vector<armed_tally> tallies() const;

private:
    void give(detection one);

    sink* results_;
    std::size_t unit_count_;
    episode_detector episodes_;
    pattern_detector patterns_;
    std::size_t armed_;
    trigger_gate gate_;
    chance_monitor chance_;
    std::uint64_t detections_ = 0;
    suppression_counts suppressed_{};
};

}  // namespace spikeweave::live
