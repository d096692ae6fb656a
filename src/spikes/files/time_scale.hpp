#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spikeweave::spikes {

/// The unit of a file's times: a power of ten of a second, or a sample.
class time_scale {
public:
    static constexpr time_scale seconds() { return time_scale(6); }
    static constexpr time_scale milliseconds() { return time_scale(3); }
    static constexpr time_scale microseconds() { return time_scale(0); }
    static constexpr time_scale nanoseconds() { return time_scale(-3); }
    /// @throws invalid_argument unless the rate is positive and finite.
    static time_scale samples(double per_second);
    /// "s", "ms", "us", "ns" or "samples:RATE". @throws invalid_argument
    static time_scale from(std::string_view name);
    /// The unit that a heading names: these, "sec", "milliseconds", "µs" and the like; nullopt for
    /// any other text.
    static std::optional<time_scale> named(std::string_view unit);

    /// The number of decimals with which times are whole microseconds, -3 for nanoseconds; 0 for
    /// samples.
    int decimals() const { return decimals_; }
    bool is_samples() const { return rate_ > 0; }
    /// The name in messages: "seconds", "samples at 30000 Hz".
    std::string name() const;

    /// Converts to microseconds, rounded half to even; nullopt if not finite or too large.
    std::optional<std::int64_t> from_whole(std::int64_t value) const;
    std::optional<std::int64_t> from_real(double value) const {
        const double us = is_samples() ? value * 1e6 / rate_ : value * factor_ / divisor_;
        // Adding this leaves the nearest integer in the low bits, without a function call per
        // spike.
        constexpr double magic = 0x1.8p52;
        constexpr double small = 0x1p51;
        if (us < small && us > -small)
            return std::bit_cast<std::int64_t>(us + magic) - std::bit_cast<std::int64_t>(magic);
        return from_large_real(us);
    }

private:
    constexpr explicit time_scale(int decimals)
        : decimals_(decimals),
          factor_(decimals == 6   ? 1e6
                  : decimals == 3 ? 1e3
                                  : 1),
          divisor_(decimals < 0 ? 1e3 : 1) {}
    static std::optional<std::int64_t> from_large_real(double us);

    int decimals_ = 6;
    double factor_ = 1e6;
    double divisor_ = 1;
    double rate_ = 0;
};

/// The limit of times, such that their sums and differences do not overflow an int64.
inline constexpr std::int64_t largest_time_us = INT64_MAX / 4;

/// That numbers of 32 bits are too coarse for times up to this one; empty if they are not.
std::string warning_of_32_bits(double largest, const time_scale& scale);

/// Parses the decimal number at the front of `text` as microseconds, exactly for any exponent and
/// length. Sets `used` to its length, 0 if there is none.
/// @return nullopt if the number is too large, or not a whole number of samples.
std::optional<std::int64_t> parse_decimal(std::string_view text, const time_scale& scale,
                                          std::size_t& used);

}  // namespace spikeweave::spikes
