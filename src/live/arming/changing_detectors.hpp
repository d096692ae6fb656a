#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "live/detection/detection.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

namespace spikeweave::live {

/// Detects episodes that are armed and disarmed while spikes come in. Each has a detector of its
/// own, which only gets the spikes of its units. The detections of an episode are the occurrences
/// that `find_occurrences` returns for the spikes between its arming and its disarming.
class changing_detectors {
public:
    explicit changing_detectors(tie_rule ties) : options_{ties} {}

    /// Spikes that follow count for this episode; none of them is before `from_us`.
    /// @param number      the next one, or that of an episode that was disarmed
    /// @param per_minute  the rate expected by chance
    void arm(std::size_t number, const episode& what, double per_minute, std::int64_t from_us);
    void disarm(std::size_t number, std::int64_t from_us);

    struct found {
        std::size_t number;
        std::span<const std::int64_t> times_us;
    };
    /// Takes a spike, and calls `on_detection` in the order of the numbers.
    template <class OnDetection>
    void add(std::int64_t time_us, unit_id unit, const OnDetection& on_detection) {
        observe(time_us);
        if (to_index(unit) >= of_unit_.size()) return;
        for (const follower& one : of_unit_[to_index(unit)])
            for (const episode_detection& detected : one.detector->add(time_us, one.unit)) {
                ++tallies_[one.number].counts.detected;
                on_detection(found{one.number, detected.times_us});
            }
    }
    void end_epoch();

    /// Of all that were ever armed.
    std::vector<armed_tally> tallies() const;

private:
    // An episode that has this unit, by its number there.
    struct follower {
        std::size_t number;
        episode_detector* detector;
        unit_id unit;
    };
    struct armed_one {
        std::vector<unit_id> units;
        episode_detector detector;
    };
    struct tally {
        armed_tally counts{};
        double minutes = 0;                   // armed so far
        std::optional<std::int64_t> since{};  // null: it is not armed, or no spike has come since
    };

    void observe(std::int64_t time_us);
    static void settle(tally& one, std::int64_t until_us);

    episode_detector_options options_;
    std::map<std::size_t, armed_one> armed_{};  // by number
    std::vector<std::vector<follower>> of_unit_{};
    std::vector<tally> tallies_{};
    std::optional<std::int64_t> last_us_{};  // in this epoch
};

}  // namespace spikeweave::live
