#include "live/log/recorded_blocks.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

recorded_blocks::recorded_blocks(session_file& file, double speed, std::stop_token stop)
    : file_(&file), speed_(speed), stop_(std::move(stop)) {
    if (!(speed >= 0)) throw invalid_argument("speed", "it is negative");
}

std::optional<source_block> recorded_blocks::next() {
    if (stop_.stop_requested()) return {};
    auto read = file_->next_block();
    if (!read || !wait_until(read->arrived_us)) return {};
    return std::move(read->block);
}

// Returns false if it was stopped before. The clock of the computer may have been set, so waiting
// ends with the largest time that a clock can have.
bool recorded_blocks::wait_until(std::int64_t arrived_us) {
    if (speed_ == 0) return true;
    if (!first_arrived_us_) {
        first_arrived_us_ = arrived_us;
        began_ = clock::now();
    }
    constexpr double longest_us = 1e15;  // 30 years
    const double passed_us =
        (static_cast<double>(arrived_us) - static_cast<double>(*first_arrived_us_)) / speed_;
    if (!(passed_us > 0)) return true;
    const auto until = began_ + std::chrono::microseconds{
                                    static_cast<std::int64_t>(std::min(passed_us, longest_us))};
    std::mutex mutex;
    std::condition_variable_any wakened;
    std::unique_lock lock(mutex);
    wakened.wait_until(lock, stop_, until, [] { return false; });
    return !stop_.stop_requested();
}

}  // namespace spikeweave::live
