#include <fmt/format.h>

#include <array>
#include <charconv>
#include <numeric>
#include <utility>

#include "spikeweave/core/error.hpp"
#include "spikeweave/live/triggers.hpp"

namespace spikeweave {
namespace {

// A product of a count and a period fits into 63 bits.
constexpr std::uint64_t largest_count = 100'000'000;
constexpr duration longest_period = std::chrono::hours{24};
constexpr int most_decimals = 6;

[[noreturn]] void refuse_rate(std::string_view text) {
    throw invalid_argument(
        fmt::format("'{}' is not a rate: expected a number above 0 in a time, such as 10/s, 1/min "
                    "or 5kHz, with at most {} in {} and six decimals",
                    text, largest_count, format_duration(longest_period)));
}

// The time of "s", "min" or "10s".
duration period_in(std::string_view text) {
    const bool has_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
    return parse_duration(has_number ? std::string(text) : fmt::format("1{}", text));
}

// Decimals lengthen the period: 2.5 in a second are 5 in two.
event_rate rate_of(std::string_view number, std::uint64_t times, duration period,
                   std::string_view text) {
    std::string digits(number);
    const std::size_t point = digits.find('.');
    const std::size_t decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
    if (point != std::string::npos) digits.erase(point, 1);
    std::uint64_t count = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, count);
    if (error != std::errc{} || stopped != end || decimals > most_decimals || count == 0 ||
        count > largest_count * times)
        refuse_rate(text);
    std::uint64_t scale = 1;
    for (std::size_t i = 0; i < decimals; ++i) scale *= 10;
    count *= times;
    const std::uint64_t common = std::gcd(count, scale);
    const event_rate rate{count / common, period * static_cast<std::int64_t>(scale / common)};
    if (rate.count > largest_count || rate.period <= duration{0} || rate.period > longest_period)
        refuse_rate(text);
    return rate;
}

}  // namespace

event_rate parse_rate(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 2> frequencies{
        {{"kHz", 1000}, {"Hz", 1}}};
    for (const auto& [unit, times] : frequencies)
        if (text.ends_with(unit))
            return rate_of(text.substr(0, text.size() - unit.size()), times,
                           std::chrono::seconds{1}, text);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) refuse_rate(text);
    duration period{0};
    try {
        period = period_in(text.substr(slash + 1));
    } catch (const invalid_argument&) {
        refuse_rate(text);
    }
    if (period > longest_period) refuse_rate(text);
    return rate_of(text.substr(0, slash), 1, period, text);
}

std::string format_rate(const event_rate& rate) {
    std::string period = format_duration(rate.period);
    std::erase(period, ' ');
    if (period == "1s") period = "s";
    if (rate.period == std::chrono::minutes{1}) period = "min";
    return fmt::format("{}/{}", rate.count, period);
}

namespace {

// Fields may have been set without `parse_rate`.
auto whole_rate(const std::optional<event_rate>& rate) {
    return [&rate] {
        if (rate) static_cast<void>(parse_rate(format_rate(*rate)));
    };
}

}  // namespace

option_list describe(trigger_options& options) {
    option_list list;
    list.begin_group("Triggers");
    list.add("hold_off", options.hold_off,
             "after a trigger, suppress further ones of the same episode or pattern for this time")
        .basic()
        .unset_is("no hold-off");
    list.add("max_triggers", options.max_triggers,
             "limit for the triggers of all episodes and patterns together: 10/s allows ten at "
             "once, and then ten in each second")
        .written("RATE")
        .by_default("no limit")
        .obeys(whole_rate(options.max_triggers));
    list.add("mute_above", options.mute_above,
             "suppress triggers in network bursts: while all units together have fired more often "
             "than this, such as 5kHz, in the last `mute_window`")
        .written("RATE")
        .by_default("never")
        .obeys(whole_rate(options.mute_above));
    list.add("mute_window", options.mute_window, "the time over which `mute_above` counts spikes")
        .above(0)
        .at_most(3600)
        .only_with("mute_above");
    list.add("max_false_alarms", options.max_false_alarms,
             "refuse episodes and patterns that units firing independently would complete more "
             "often than this, such as 1/min; in a stream, nothing triggers until the rates have "
             "been measured")
        .basic()
        .written("RATE")
        .by_default("no limit")
        .obeys(whole_rate(options.max_false_alarms));
    list.add("rates_from", options.rates_from,
             "time over which the units' rates are measured, from which the number expected by "
             "chance is computed")
        .at_least(0.001);
    return list;
}

}  // namespace spikeweave
