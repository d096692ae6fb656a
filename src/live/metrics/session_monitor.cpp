#include "live/metrics/session_monitor.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {

void session_monitor::update(const session& through) {
    const auto watermark = through.order().watermark();
    const std::lock_guard lock(mutex_);
    state_.counts = through.counts();
    if (watermark == state_.watermark_us) return;
    state_.watermark_us = watermark;
    state_.watermark_since = std::chrono::steady_clock::now();
}

void session_monitor::add_latency(std::chrono::steady_clock::duration one) {
    const std::lock_guard lock(mutex_);
    state_.latency.add(std::chrono::duration<double>(one).count());
}

void session_monitor::add_detections(std::span<const timed_detection> found) {
    const auto now = std::chrono::steady_clock::now();
    const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
    const std::lock_guard lock(mutex_);
    for (const timed_detection& one : found) {
        state_.of(stage::detection).add(seconds(one.detected - one.spike.taken));
        if (!one.is_trigger) continue;
        state_.of(stage::trigger).add(seconds(now - one.detected));
        state_.of(stage::whole).add(seconds(now - one.spike.since));
    }
}

void session_monitor::update(sampling_state samples) {
    const std::lock_guard lock(mutex_);
    state_.of(stage::sorting) = samples.sorting;
    state_.sampling = std::move(samples);
}

monitored_state session_monitor::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

// Tells of the first second that samples wait, and again whenever they wait twice as long.
void monitored_source::look_at_samples(bool is_over) {
    constexpr double long_s = 1;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_ && !is_over) return;
    next_look_ = now + between_looks;
    auto samples = from_->sampling();
    if (!samples) return;
    const double behind_s = samples->behind_s;
    monitor_->update(std::move(*samples));
    if (behind_s < long_s / 2) told_behind_s_ = 0;
    if (behind_s < std::max(long_s, 2 * told_behind_s_)) return;
    told_behind_s_ = behind_s;
    results_->take(samples_waiting{behind_s});
}

// Blocks that say that nothing has come have no latency.
std::optional<source_block> monitored_source::next() {
    if (arrived_) monitor_->add_latency(std::chrono::steady_clock::now() - *arrived_);
    if (const auto found = results_->take_timed(); !found.empty()) monitor_->add_detections(found);
    monitor_->update(*through_);
    auto block = from_->next();
    arrived_.reset();
    look_at_samples(!block);
    if (block) results_->arriving().add(*block, from_->arrived_after());
    if (block && !(*block == source_block{})) arrived_ = std::chrono::steady_clock::now();
    return block;
}

}  // namespace spikeweave::live
