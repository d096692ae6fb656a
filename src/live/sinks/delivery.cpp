#include "live/sinks/delivery.hpp"

namespace spikeweave::live {

std::string delivery_report::reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
}

void delivery_report::tell_lost(const std::string& reason, std::uint64_t results) {
    lost_.fetch_add(results, std::memory_order_relaxed);
    tell_trouble(reason);
}

void delivery_report::tell_trouble(const std::string& reason) {
    {
        const std::lock_guard lock(mutex_);
        reason_ = reason;
    }
    has_trouble_.store(true, std::memory_order_release);
}

std::uint64_t undelivered_by(const delivery_reports& reports) {
    std::uint64_t sum = 0;
    for (const auto& one : reports) sum += one->lost();
    return sum;
}

}  // namespace spikeweave::live
