#include "live/sources/played_file.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr std::size_t spikes_at_once = 4096;
constexpr std::chrono::milliseconds between_blocks{10};

}  // namespace

bool sleep_until(std::chrono::steady_clock::time_point time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wakened;
    std::unique_lock lock(mutex);
    wakened.wait_until(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

played_file::played_file(spike_sequence spikes, double speed, std::stop_token stop)
    : spikes_(std::move(spikes)), speed_(speed), stop_(std::move(stop)) {
    if (!(speed >= 0)) throw invalid_argument("speed", "it is negative");
}

std::optional<std::int64_t> played_file::wait() {
    if (!began_) began_ = next_block_ = looked_ = clock::now();
    next_block_ = std::max(next_block_ + between_blocks, clock::now());
    if (!sleep_until(next_block_, stop_)) return {};
    arrived_after_ = std::exchange(looked_, clock::now());
    const time_span span = spikes_.span();
    const double passed =
        speed_ * std::chrono::duration<double, std::micro>(looked_ - *began_).count();
    const double length =
        static_cast<double>(span.end.count()) - static_cast<double>(span.begin.count());
    if (passed >= length) return span.end.count();
    return std::min(span.begin.count() + static_cast<std::int64_t>(passed), span.end.count());
}

source_block played_file::until(std::size_t end, std::int64_t watermark_us) {
    source_block block{.watermark_us = watermark_us};
    block.spikes.reserve(end - at_);
    for (; at_ < end; ++at_)
        block.spikes.push_back({spikes_.times_us()[at_], spikes_.units()[at_]});
    return block;
}

std::optional<source_block> played_file::next() {
    if (is_over_ || stop_.stop_requested()) return {};
    const auto times = spikes_.times_us();
    const std::int64_t end = spikes_.span().end.count();
    if (speed_ == 0) {
        is_over_ = spikes_.size() - at_ <= spikes_at_once;
        if (is_over_) return until(spikes_.size(), end);
        return until(at_ + spikes_at_once, times[at_ + spikes_at_once - 1]);
    }
    const auto now = wait();
    if (!now) return {};
    is_over_ = *now == end;
    if (is_over_) return until(spikes_.size(), end);
    const auto after =
        std::lower_bound(times.begin() + static_cast<std::ptrdiff_t>(at_), times.end(), *now);
    return until(static_cast<std::size_t>(after - times.begin()), *now);
}

}  // namespace spikeweave::live
