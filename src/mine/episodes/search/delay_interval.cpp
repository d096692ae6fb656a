#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/text.hpp"
#include "mine/episodes/search/strategy.hpp"
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

std::vector<delay_interval> parse_delays(std::string_view text) {
    std::vector<delay_interval> delays;
    for (const std::string_view part : core::split(text, ",")) {
        const delay_interval interval = parse_delay_interval(part);
        if (std::ranges::find(delays, interval) != delays.end())
            throw invalid_argument(
                fmt::format("the interval {} is given twice", format_delays({&interval, 1})));
        delays.push_back(interval);
    }
    return delays;
}

std::vector<delay_interval> parse_delay_grid(std::string_view text) {
    constexpr std::int64_t most = 1'000'000;
    const std::vector<std::string_view> parts = core::split(text, ":");
    if (parts.size() != 3)
        throw invalid_argument(
            fmt::format("'{}' is not LOW:HIGH:STEP, such as 0ms:20ms:5ms", text));
    const duration low = parse_duration(parts[0]);
    const duration high = parse_duration(parts[1]);
    const duration step = parse_duration(parts[2]);
    if (step <= duration{0}) throw invalid_argument(fmt::format("'{}' is not above 0", parts[2]));
    if (low < duration{0} || high <= low)
        throw invalid_argument(fmt::format("'{}' does not have 0 <= LOW < HIGH", text));
    if ((high - low) % step != duration{0})
        throw invalid_argument(fmt::format("{} is not a whole number of steps of {}",
                                           format_duration(high - low), format_duration(step)));
    if ((high - low) / step > most)
        throw invalid_argument(
            fmt::format("'{}' comes to {} intervals", text, (high - low) / step));
    std::vector<delay_interval> delays;
    for (duration at = low; at < high; at += step) delays.push_back({at, at + step});
    return delays;
}

std::string format_delays(std::span<const delay_interval> delays) {
    const auto ms = [](duration d) { return static_cast<double>(d.count()) / 1000; };
    std::string text;
    for (const delay_interval& interval : delays)
        text +=
            fmt::format("{}{}-{}ms", text.empty() ? "" : ",", ms(interval.low), ms(interval.high));
    return text;
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

duration episodes::longest_delay(std::span<const delay_interval> delays) {
    duration longest{0};
    for (const delay_interval& one : delays) longest = std::max(longest, one.high);
    return longest;
}

std::vector<delay_interval> episodes::sorted_delays(std::vector<delay_interval> delays) {
    std::sort(delays.begin(), delays.end());
    delays.erase(std::unique(delays.begin(), delays.end()), delays.end());
    return delays;
}

std::vector<delay_interval> default_delays() {
    using std::chrono_literals::operator""ms;
    return {{1ms, 4ms}, {4ms, 8ms}, {8ms, 12ms}, {12ms, 16ms}};
}

}  // namespace spikeweave
