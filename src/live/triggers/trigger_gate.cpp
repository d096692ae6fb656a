#include "live/triggers/trigger_gate.hpp"

#include <algorithm>

namespace spikeweave::live {
namespace {

std::uint64_t us_of(duration time) {
    return static_cast<std::uint64_t>(time.count());
}

// A full bucket has a token for each event of a period.
std::uint64_t full_bucket(const event_rate& rate) {
    return rate.count * us_of(rate.period);
}

}  // namespace

trigger_gate::trigger_gate(std::size_t armed, const trigger_options& options)
    : hold_off_(us_of(options.hold_off)),
      max_triggers_(options.max_triggers),
      mute_window_(us_of(options.mute_window)),
      is_open_(!options.max_false_alarms),
      last_trigger_(armed) {
    check_options(options);
    if (max_triggers_) tokens_ = full_bucket(*max_triggers_);
    if (options.mute_above)
        most_spikes_ = options.mute_above->count * mute_window_ / us_of(options.mute_above->period);
}

void trigger_gate::observe(std::int64_t time_us) {
    // The difference of two times may need 64 bits.
    if (has_time_ && time_us > time_us_)
        pass(static_cast<std::uint64_t>(time_us) - static_cast<std::uint64_t>(time_us_));
    has_time_ = true;
    time_us_ = time_us;
    ++spikes_at_now_;
}

void trigger_gate::pass(std::uint64_t microseconds) {
    if (most_spikes_) {
        for (; spikes_at_now_ > 0; --spikes_at_now_) {
            if (recent_.size() <= *most_spikes_) {
                recent_.push_back(now_);
                continue;
            }
            recent_[oldest_] = now_;
            oldest_ = (oldest_ + 1) % recent_.size();
        }
    }
    spikes_at_now_ = 0;
    now_ += microseconds;
    if (!max_triggers_) return;
    const std::uint64_t full = full_bucket(*max_triggers_);
    tokens_ = microseconds >= us_of(max_triggers_->period)
                  ? full
                  : std::min(full, tokens_ + microseconds * max_triggers_->count);
}

bool trigger_gate::is_muted() const {
    return most_spikes_ && recent_.size() > *most_spikes_ &&
           now_ - recent_[oldest_] <= mute_window_;
}

bool trigger_gate::is_held_off(std::size_t armed) const {
    const auto& last = last_trigger_[armed];
    return last && now_ - *last < hold_off_;
}

bool trigger_gate::takes_token() {
    if (!max_triggers_) return true;
    const std::uint64_t token = us_of(max_triggers_->period);
    if (tokens_ < token) return false;
    tokens_ -= token;
    return true;
}

suppression trigger_gate::decide(std::size_t armed, bool is_checked) {
    if (armed >= last_trigger_.size()) last_trigger_.resize(armed + 1);
    if (!is_open_ && !is_checked) return suppression::unchecked;
    if (is_muted()) return suppression::mute;
    if (is_held_off(armed)) return suppression::hold_off;
    if (!takes_token()) return suppression::rate;
    last_trigger_[armed] = now_;
    return suppression::none;
}

}  // namespace spikeweave::live
