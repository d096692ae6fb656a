#include <fmt/format.h>

#include "mine/episode/strategy.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The unit after the number in "5 ms". In "0-5ms" the first bound takes the unit of the second.
std::string_view unit_of(std::string_view text) {
    const auto last_digit = text.find_last_of("0123456789.");
    return last_digit == std::string_view::npos ? std::string_view{} : text.substr(last_digit + 1);
}

}  // namespace

delay_interval parse_delay_interval(std::string_view text) {
    const auto dash = text.find('-', 1);
    if (dash == std::string_view::npos || dash + 1 == text.size())
        throw invalid_argument(
            fmt::format("'{}' is not a delay interval (expected LOW-HIGH, such as 4-6ms)", text));
    const std::string_view high = text.substr(dash + 1);
    std::string low(text.substr(0, dash));
    if (unit_of(low).empty()) low += unit_of(high);
    const delay_interval interval{parse_duration(low), parse_duration(high)};
    static_cast<void>(episodes::checked_interval(interval));
    return interval;
}

std::string format_delay_interval(const delay_interval& interval) {
    const auto ms = [](duration d) { return static_cast<double>(d.count()) / 1000; };
    return fmt::format("({},{}] ms", ms(interval.low), ms(interval.high));
}

episodes::interval_us episodes::checked_interval(const delay_interval& interval) {
    if (interval.low < duration{0} || interval.low >= interval.high)
        throw invalid_argument(fmt::format("a delay interval needs 0 <= low < high, found {} to {}",
                                           format_duration(interval.low),
                                           format_duration(interval.high)));
    return {interval.low.count(), interval.high.count()};
}

std::vector<episodes::interval_us> episodes::checked_intervals(
    const std::vector<delay_interval>& intervals) {
    if (intervals.empty()) throw invalid_argument("no delay interval is given");
    std::vector<interval_us> checked;
    checked.reserve(intervals.size());
    for (const delay_interval& interval : intervals) checked.push_back(checked_interval(interval));
    return checked;
}

std::vector<delay_interval> default_delays() {
    using std::chrono_literals::operator""ms;
    return {{1ms, 4ms}, {4ms, 8ms}, {8ms, 12ms}, {12ms, 16ms}};
}

}  // namespace spikeweave
