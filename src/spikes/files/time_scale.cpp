#include "spikes/files/time_scale.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::spikes {
namespace {

constexpr std::int64_t us_per_second = 1'000'000;

// Significant digits without leading zeros, and the power of ten of the last one.
struct decimal {
    bool negative = false;
    std::string digits;
    std::int64_t exponent = 0;
};

constexpr std::int64_t largest_exponent = 100'000;

// Parses the exponent after 'e', if there is one. It is limited, because beyond the limit
// everything is 0 or too large.
std::size_t take_exponent(std::string_view text, std::int64_t& exponent) {
    if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return 0;
    std::size_t i = 1;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    const std::size_t first = i;
    std::int64_t value = 0;
    for (; i < text.size() && core::is_digit(text[i]); ++i)
        value = std::min(value * 10 + (text[i] - '0'), largest_exponent);
    if (i == first) return 0;
    exponent += negative ? -value : value;
    return i;
}

std::size_t take_decimal(std::string_view text, decimal& out) {
    std::size_t i = 0;
    out.negative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '-' || text.front() == '+')) ++i;
    bool any = false;
    bool point = false;
    for (; i < text.size(); ++i) {
        if (core::is_digit(text[i])) {
            any = true;
            if (!out.digits.empty() || text[i] != '0') out.digits += text[i];
            if (point) --out.exponent;
        } else if (text[i] == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    if (!any) return 0;
    return i + take_exponent(text.substr(i), out.exponent);
}

// Returns the number times 10^shift, rounded half to even.
std::optional<std::int64_t> rounded(const decimal& number, int shift, bool whole_only) {
    const std::int64_t exponent = number.exponent + shift;
    const auto n = static_cast<std::int64_t>(number.digits.size());
    const std::int64_t kept = n + exponent;  // digits before the point
    if (n == 0) return 0;
    constexpr std::int64_t most_digits = 19;
    if (kept > most_digits) return {};
    std::uint64_t value = 0;
    for (std::int64_t i = 0; i < kept; ++i) {
        const int digit = i < n ? number.digits[static_cast<std::size_t>(i)] - '0' : 0;
        value = value * 10 + static_cast<std::uint64_t>(digit);
    }
    if (exponent < 0) {
        const std::string_view all = number.digits;
        const std::string_view cut =
            kept < 0 ? std::string_view{} : all.substr(static_cast<std::size_t>(kept));
        const std::size_t last = kept < 0 ? std::string_view::npos : cut.find_last_not_of('0');
        const bool exact = kept >= 0 && last == std::string_view::npos;
        if (whole_only && !exact) return {};
        const bool up = !cut.empty() &&
                        (cut.front() > '5' || (cut.front() == '5' && (last > 0 || value % 2 == 1)));
        value += up ? 1 : 0;
    }
    if (value > static_cast<std::uint64_t>(largest_time_us)) return {};
    const auto magnitude = static_cast<std::int64_t>(value);
    return number.negative ? -magnitude : magnitude;
}

std::optional<std::int64_t> in_range(std::int64_t us) {
    if (us > largest_time_us || us < -largest_time_us) return {};
    return us;
}

}  // namespace

time_scale time_scale::samples(double per_second) {
    if (!(per_second > 0) || !std::isfinite(per_second))
        throw invalid_argument(
            fmt::format("a rate of {} samples a second, expected a positive one", per_second));
    time_scale out(0);
    out.rate_ = per_second;
    return out;
}

std::optional<time_scale> time_scale::named(std::string_view unit) {
    static constexpr std::array<std::pair<std::string_view, time_scale>, 23> units{{
        {"s", seconds()},
        {"sec", seconds()},
        {"secs", seconds()},
        {"second", seconds()},
        {"seconds", seconds()},
        {"ms", milliseconds()},
        {"msec", milliseconds()},
        {"msecs", milliseconds()},
        {"millisecond", milliseconds()},
        {"milliseconds", milliseconds()},
        {"us", microseconds()},
        {"µs", microseconds()},
        {"\u03bcs", microseconds()},  // the Greek letter, not the sign
        {"usec", microseconds()},
        {"usecs", microseconds()},
        {"microsec", microseconds()},
        {"microsecond", microseconds()},
        {"microseconds", microseconds()},
        {"ns", nanoseconds()},
        {"nsec", nanoseconds()},
        {"nsecs", nanoseconds()},
        {"nanosecond", nanoseconds()},
        {"nanoseconds", nanoseconds()},
    }};
    for (const auto& [name, scale] : units)
        if (name == unit) return scale;
    return {};
}

time_scale time_scale::from(std::string_view name) {
    for (const std::string_view known : {"s", "ms", "us", "ns"})
        if (name == known) return *named(name);
    constexpr std::string_view prefix = "samples:";
    if (name.starts_with(prefix)) {
        const std::string_view number = name.substr(prefix.size());
        double rate = 0;
        const auto [end, code] =
            fast_float::from_chars(number.data(), number.data() + number.size(), rate);
        if (code == std::errc{} && end == number.data() + number.size()) return samples(rate);
    }
    throw invalid_argument(
        fmt::format("'{}' is not a unit of time (expected s, ms, us, ns or samples:RATE, such as "
                    "samples:30000)",
                    name));
}

std::string time_scale::name() const {
    if (is_samples()) return fmt::format("samples at {} Hz", rate_);
    return decimals_ == 6   ? "seconds"
           : decimals_ == 3 ? "milliseconds"
           : decimals_ == 0 ? "microseconds"
                            : "nanoseconds";
}

std::optional<std::int64_t> time_scale::from_whole(std::int64_t value) const {
    if (decimals_ < 0) {  // a thousand million a second
        time_scale counted = microseconds();
        counted.rate_ = 1e9;
        return counted.from_whole(value);
    }
    if (!is_samples()) {
        std::int64_t us = value;
        for (int i = 0; i < decimals_; ++i)
            if (__builtin_mul_overflow(us, 10, &us)) return {};
        return in_range(us);
    }
    const auto whole_rate = static_cast<std::int64_t>(rate_ <= 1e9 ? rate_ : 0);
    if (static_cast<double>(whole_rate) != rate_) {
        const auto us = static_cast<long double>(value) * us_per_second / rate_;
        if (!(std::abs(us) <= static_cast<long double>(largest_time_us))) return {};
        return std::llrint(us);
    }
    __extension__ using wide = __int128;  // holds the product of any sample and 10^6
    const wide product = static_cast<wide>(value) * us_per_second;
    wide us = product / whole_rate;
    wide rest = product % whole_rate;
    if (rest < 0) {
        rest += whole_rate;
        --us;
    }
    if (2 * rest > whole_rate || (2 * rest == whole_rate && us % 2 != 0)) ++us;
    if (us > largest_time_us || us < -largest_time_us) return {};
    return static_cast<std::int64_t>(us);
}

std::optional<std::int64_t> time_scale::from_large_real(double us) {
    if (!(std::abs(us) <= static_cast<double>(largest_time_us))) return {};
    return std::llrint(us);
}

std::optional<std::int64_t> parse_decimal(std::string_view text, const time_scale& scale,
                                          std::size_t& used) {
    decimal number;
    used = take_decimal(text, number);
    if (used == 0) return {};
    const auto value = rounded(number, scale.decimals(), scale.is_samples());
    return value && scale.is_samples() ? scale.from_whole(*value) : value;
}

}  // namespace spikeweave::spikes
