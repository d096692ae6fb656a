#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string_view>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave::simulate {

/// Draws a number that is nearly normal: 64 coins and a uniform number have mean 0, variance 1 and
/// the tails of the normal distribution up to six standard deviations. It uses no function whose
/// result differs between systems.
inline double nearly_normal(random_stream& random) {
    constexpr double half_coins = 32;
    const double coins = static_cast<double>(std::popcount(random.next_u64())) - half_coins;
    const double between = static_cast<double>(random.next_u32()) * 0x1p-32 - 0.5;
    constexpr double one_by_sd = 0.24935149047701485;  // 1 / sqrt(16 + 1/12)
    return (coins + between) * one_by_sd;
}

/// The same in single precision, for the noise of recordings, which takes many draws.
inline float nearly_normal_float(random_stream& random) {
    constexpr float half_coins = 32;
    const float coins = static_cast<float>(std::popcount(random.next_u64())) - half_coins;
    const float between = static_cast<float>(random.next_u32() >> 8) * 0x1p-24F - 0.5F;
    constexpr float one_by_sd = 0.24935149047701485F;  // 1 / sqrt(16 + 1/12)
    return (coins + between) * one_by_sd;
}

inline double between(random_stream& random, double low, double high) {
    return low + (high - low) * random.uniform();
}

/// Draws from a lognormal distribution with `low` and `high`, above 0, one standard deviation below
/// and above the median, as far as two of them. Powers of one step, linear in between, take the
/// place of the exponential function.
inline double lognormal(random_stream& random, double low, double high) {
    constexpr double half_coins = 32;
    constexpr double two_sds = 8;  // of 64 coins
    double coins = 0;
    do {
        coins = static_cast<double>(std::popcount(random.next_u64())) - half_coins +
                random.uniform() - 0.5;
    } while (std::abs(coins) > two_sds);
    const double step = std::sqrt(std::sqrt(std::sqrt(high / low)));
    double value = std::sqrt(low) * std::sqrt(high);
    double left = std::abs(coins);
    for (; left >= 1; left -= 1) value = coins < 0 ? value / step : value * step;
    const double last = 1 + left * (step - 1);
    return coins < 0 ? value / last : value * last;
}

/// @throws invalid_argument with the names of both options if `low` is above `high`.
inline void check_range(std::string_view low_name, double low, std::string_view high_name,
                        double high) {
    if (low > high)
        throw invalid_argument(
            fmt::format("`{}` ({}) is above `{}` ({})", low_name, low, high_name, high));
}

}  // namespace spikeweave::simulate
