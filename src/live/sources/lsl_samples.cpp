#include "live/sources/lsl_samples.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "io/file_error.hpp"

namespace spikeweave::live {
namespace {

std::optional<std::int64_t> microseconds(double time_s) {
    constexpr double us_per_s = 1e6;
    const double time_us = time_s * us_per_s;
    if (!(std::abs(time_us) <= static_cast<double>(lsl_samples::most_time_us))) return {};
    return std::llrint(time_us);
}

}  // namespace

void lsl_samples::begin_block() {
    if (!current_.spikes.empty()) complete_.push_back(std::exchange(current_, {}));
}

void lsl_samples::begin_epoch() {
    if (!(current_ == source_block{})) complete_.push_back(std::exchange(current_, {}));
    current_.begins_epoch = true;
    clock_.reset();
}

// It may have been a spike of the time before it, so spikes do not come first.
void lsl_samples::take_unreadable() {
    begin_block();
    ++current_.unreadable;
}

void lsl_samples::add_loss() {
    begin_block();
    ++current_.missing;
}

void lsl_samples::connection_broke() {
    begin_epoch();
    ++current_.missing;
}

void lsl_samples::take(double time_s, std::string_view name) {
    const auto time_us = microseconds(time_s);
    if (!time_us || name.size() > longest_name || !io::is_printable_utf8(name))
        return take_unreadable();
    if (clock_.begins_epoch(*time_us)) begin_epoch();
    const auto unit = units_.find_or_add(std::string(name), current_);
    if (!unit) return take_unreadable();
    current_.spikes.push_back({*time_us, *unit});
    clock_.take(*time_us);
}

void lsl_samples::take(double time_s, std::int64_t number) {
    if (number < 0) return take_unreadable();
    take(time_s, std::to_string(number));
}

std::optional<source_block> lsl_samples::next() {
    if (!complete_.empty()) {
        source_block block = std::move(complete_.front());
        complete_.pop_front();
        return block;
    }
    if (current_ == source_block{}) return {};
    return std::exchange(current_, {});
}

}  // namespace spikeweave::live
