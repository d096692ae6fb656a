#include "live/metrics/session_monitor.hpp"

#include <algorithm>
#include <numeric>

namespace spikeweave::live {

void latency_histogram::add(double seconds) {
    const auto* const bound = std::ranges::lower_bound(bounds_s, seconds);
    ++counts_[static_cast<std::size_t>(bound - bounds_s.begin())];
    sum_s_ += seconds;
}

std::uint64_t latency_histogram::count_up_to(std::size_t bound) const {
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(bound) + 1;
    return std::accumulate(counts_.begin(), end, std::uint64_t{0});
}

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

monitored_state session_monitor::state() const {
    const std::lock_guard lock(mutex_);
    return state_;
}

// Blocks that say that nothing has come have no latency.
std::optional<source_block> monitored_source::next() {
    if (arrived_) monitor_->add_latency(std::chrono::steady_clock::now() - *arrived_);
    monitor_->update(*through_);
    auto block = from_->next();
    arrived_.reset();
    if (block) arriving_->add(*block, from_->arrived_after());
    if (block && !(*block == source_block{})) arrived_ = std::chrono::steady_clock::now();
    return block;
}

}  // namespace spikeweave::live
