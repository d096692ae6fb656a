#include "live/session/event_order.hpp"

#include <algorithm>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

std::int64_t earlier_by(std::int64_t time_us, std::int64_t by_us) {
    return time_us < INT64_MIN + by_us ? INT64_MIN : time_us - by_us;
}

}  // namespace

event_order::event_order(const order_options& options) : options_(options) {
    if (options.lateness < duration{0}) throw invalid_argument("lateness", "it is negative");
    if (options.most_margin < duration{0}) throw invalid_argument("most_margin", "it is negative");
}

bool event_order::add(const spike_event& spike) {
    if (watermark_ && spike.time_us < *watermark_) {
        ++counts_.late;
        if (told_us_ && spike.time_us >= earlier_by(*told_us_, options_.most_margin.count()))
            margin_us_ = std::max(margin_us_, *told_us_ - spike.time_us);
        return false;
    }
    if (options_.policy == order_policy::source) {
        raise_watermark(spike.time_us);
        accept(spike);
        return true;
    }
    waiting_.push_back(spike);
    if (options_.policy == order_policy::lateness)
        raise_watermark(earlier_by(spike.time_us, options_.lateness.count()));
    return true;
}

void event_order::advance(std::int64_t time_us) {
    if (options_.policy == order_policy::block) {
        told_us_ = std::max(told_us_.value_or(time_us), time_us);
        time_us = earlier_by(*told_us_, margin_us_);
    }
    raise_watermark(time_us);
}

void event_order::raise_watermark(std::int64_t time_us) {
    watermark_ = std::max(watermark_.value_or(time_us), time_us);
}

// Spikes are accepted in the order of their times, so a second one of a unit follows within the
// spikes of that time.
void event_order::accept(const spike_event& spike) {
    if (spike.time_us != last_time_us_) at_last_time_.clear();
    last_time_us_ = spike.time_us;
    if (std::find(at_last_time_.begin(), at_last_time_.end(), spike.unit) != at_last_time_.end()) {
        ++counts_.duplicates;
        return;
    }
    at_last_time_.push_back(spike.unit);
    ready_.push_back(spike);
    ++counts_.accepted;
}

// Without a time, all spikes are released.
void event_order::release_before(std::optional<std::int64_t> time_us) {
    const auto rest = std::partition(
        waiting_.begin(), waiting_.end(),
        [&](const spike_event& spike) { return time_us && spike.time_us >= *time_us; });
    released_.assign(rest, waiting_.end());
    waiting_.erase(rest, waiting_.end());
    std::sort(released_.begin(), released_.end());
    for (const spike_event& spike : released_) accept(spike);
}

std::span<const spike_event> event_order::take() {
    if (watermark_) release_before(watermark_);
    taken_.clear();
    std::swap(taken_, ready_);
    return taken_;
}

std::span<const spike_event> event_order::flush() {
    release_before({});
    watermark_.reset();
    told_us_.reset();
    at_last_time_.clear();
    taken_.clear();
    std::swap(taken_, ready_);
    return taken_;
}

}  // namespace spikeweave::live
