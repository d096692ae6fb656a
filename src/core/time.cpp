#include "spikeweave/core/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units_us{{
    {"us", 1},
    {"µs", 1},
    {"ms", 1'000},
    {"s", 1'000'000},
    {"min", 60'000'000},
    {"h", 3'600'000'000},
}};

// Far enough from the ends of int64 that sums and differences of times cannot overflow.
constexpr std::int64_t largest_us = INT64_MAX / 4;

std::string wrong(std::string_view text, std::string_view why) {
    return fmt::format(
        "'{}' is not a time: {} (expected a number with its unit, such as 5ms, 0.5s or 250us)",
        text, why);
}

}  // namespace

duration duration_from_seconds(double seconds) {
    if (std::isnan(seconds)) throw invalid_argument("found NaN, expected a time in seconds");
    const double us = seconds * 1e6;
    if (!(std::abs(us) <= static_cast<double>(largest_us)))
        throw invalid_argument(fmt::format("found {} s, expected a time of at most {} s", seconds,
                                           largest_us / 1'000'000));
    return duration{std::llrint(us)};
}

duration parse_duration(std::string_view text) {
    const std::string_view body = core::trimmed(text, " ");
    const bool negative = body.starts_with('-');
    std::string_view rest = body.substr(negative || body.starts_with('+') ? 1 : 0);

    // The digits, and how many of them follow the decimal point. The arithmetic is decimal, so that
    // 0.3ms is exactly 300 us.
    std::int64_t digits = 0;
    int decimals = -1;  // none
    std::size_t n = 0;
    bool any = false;
    for (; n < rest.size(); ++n) {
        const char c = rest[n];
        if (c == '.' && decimals < 0) {
            decimals = 0;
        } else if (c >= '0' && c <= '9') {
            if (digits > largest_us / 10) throw invalid_argument(wrong(text, "too many digits"));
            digits = digits * 10 + (c - '0');
            any = true;
            if (decimals >= 0) ++decimals;
        } else {
            break;
        }
    }
    if (!any) throw invalid_argument(wrong(text, "no number"));
    const std::string_view unit = core::trimmed(rest.substr(n), " ");
    if (unit.empty()) {
        if (digits == 0) return duration{0};
        throw invalid_argument(wrong(text, "no unit"));
    }
    const bool is_nanoseconds = unit == "ns";
    if (is_nanoseconds) decimals = std::max(decimals, 0) + 3;
    for (const auto& [name, us] : units_us) {
        if (name != (is_nanoseconds ? "us" : unit)) continue;
        std::int64_t value = 0;
        if (__builtin_mul_overflow(digits, us, &value) || value > largest_us)
            throw invalid_argument(wrong(text, "too long"));
        for (int i = 0; i < decimals; ++i) {
            if (value % 10 != 0) throw invalid_argument(wrong(text, "finer than a microsecond"));
            value /= 10;
        }
        return duration{negative ? -value : value};
    }
    throw invalid_argument(wrong(text, fmt::format("unknown unit '{}'", unit)));
}

std::string format_duration(duration d) {
    const auto [scale, unit] = [&]() -> std::pair<double, std::string_view> {
        const auto magnitude = std::abs(d.count());
        if (magnitude >= 1'000'000) return {1e6, "s"};
        if (magnitude >= 1'000 || magnitude == 0) return {1e3, "ms"};
        return {1, "us"};
    }();
    return fmt::format("{} {}", static_cast<double>(d.count()) / scale, unit);
}

std::string format_rough_time(double seconds) {
    constexpr double most = 1e15;  // seconds: far above the longest text, and a whole number
    const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, most)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    constexpr std::uint64_t day = 86'400;
    if (whole < 3 * day) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    if (whole < 1'000 * day) return fmt::format("{} days", whole / day);
    constexpr std::uint64_t year = 31'557'600;
    if (whole < 10'000 * year) return fmt::format("{} years", core::grouped(whole / year));
    return "more than 10,000 years";
}

}  // namespace spikeweave
