#include "live/detection/armed_detectors.hpp"

#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"

namespace spikeweave::live {

armed_detectors::armed_detectors(const session_options& options, std::size_t unit_count,
                                 sink& results)
    : results_(&results),
      unit_count_(unit_count),
      episodes_(options.armed, unit_count, options.detector),
      patterns_(options.patterns, unit_count),
      armed_(options.armed.size() + options.patterns.patterns.size()),
      may_arm_(options.arming.has_value()),
      changing_(options.detector.ties),
      gate_(armed_, options.triggers),
      chance_(options.armed, options.patterns, unit_count, options.triggers.rates_from) {}

// The rates have been measured from earlier spikes, so this one may trigger already.
void armed_detectors::add(std::int64_t time_us, unit_id unit) {
    if (armed_ == 0 && !may_arm_) return;
    gate_.observe(time_us);
    if (chance_.add(time_us, unit)) {
        results_->take(chance_.last());
        gate_.open();
    }
    if (to_index(unit) < unit_count_) {
        for (const episode_detection& one : episodes_.add(time_us, unit))
            give({one.episode, one.times_us.front(), time_us, one.times_us});
        for (const pattern_detection& one : patterns_.add(time_us, unit))
            give({episodes_.armed().size() + one.pattern, one.begin_us, time_us, one.times_us});
    }
    changing_.add(time_us, unit, [&](const changing_detectors::found& one) {
        give({armed_ + one.number, one.times_us.front(), time_us, one.times_us}, true);
    });
}

void armed_detectors::give(detection one, bool is_checked) {
    one.suppressed = gate_.decide(one.armed, is_checked);
    ++detections_;
    suppressed_.add(one.suppressed);
    results_->take(one);
}

void armed_detectors::end_epoch() {
    episodes_.flush();
    patterns_.flush();
    changing_.end_epoch();
    gate_.end_epoch();
    chance_.end_epoch();
}

std::vector<armed_tally> armed_detectors::tallies() const {
    std::vector<armed_tally> all(armed_);
    const std::size_t episodes = episodes_.armed().size();
    for (std::size_t i = 0; i < armed_; ++i) {
        const detection_counts counts = i < episodes ? episodes_.counts(i) : detection_counts{};
        all[i] = {.detected = i < episodes ? counts.detected : patterns_.count(i - episodes),
                  .completed = counts.completed,
                  .expected = chance_.expected()[i]};
        if (chance_.minutes() > 0) all[i].expected_per_minute = all[i].expected / chance_.minutes();
    }
    const std::vector<armed_tally> later = changing_.tallies();
    all.insert(all.end(), later.begin(), later.end());
    return all;
}

}  // namespace spikeweave::live
