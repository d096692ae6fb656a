#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "live/arming/changing_detectors.hpp"
#include "live/detection/detection.hpp"
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

    /// Arms one more, whose number follows those of all that was ever armed, or one that was
    /// disarmed. Spikes from this time on count for it, and none before has been left to come.
    void arm(std::size_t number, const episode& what, double per_minute, std::int64_t from_us) {
        changing_.arm(number - armed_, what, per_minute, from_us);
    }
    void disarm(std::size_t number, std::int64_t from_us) {
        changing_.disarm(number - armed_, from_us);
    }
    /// The number of episodes and patterns that are armed from the beginning.
    std::size_t given() const { return armed_; }

    void add(std::int64_t time_us, unit_id unit);
    void end_epoch();

    std::uint64_t detections() const { return detections_; }
    const suppression_counts& suppressed() const { return suppressed_; }
    /// Of the episodes, then of the patterns, then of those that were armed later.
    std::vector<armed_tally> tallies() const;

private:
    void give(detection one, bool is_checked = false);

    sink* results_;
    std::size_t unit_count_;
    episode_detector episodes_;
    pattern_detector patterns_;
    std::size_t armed_;
    bool may_arm_;
    changing_detectors changing_;
    trigger_gate gate_;
    chance_monitor chance_;
    std::uint64_t detections_ = 0;
    suppression_counts suppressed_{};
};

}  // namespace spikeweave::live
