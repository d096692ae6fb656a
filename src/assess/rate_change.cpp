#include "spikeweave/assess/rate_change.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <utility>

#include "core/double_policy.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The probability that at least `least` of `trials` succeed: the first term, which may be too small
// for a double, by its logarithm, and the others relative to it. (The incomplete beta function of
// Boost underflows to 0 for some tails that a double can hold.)
double upper_tail(double least, double trials, double success) {
    const auto lgamma = [](double x) { return boost::math::lgamma(x, core::double_policy()); };
    const double ways = lgamma(trials + 1) - lgamma(least + 1) - lgamma(trials - least + 1);
    const double first = ways + least * std::log(success) + (trials - least) * std::log1p(-success);
    const double odds = success / (1 - success);
    double sum = 1;
    double term = 1;
    for (double k = least; k < trials && term > 1e-17 * sum; ++k) {
        term *= odds * (trials - k) / (k + 1);
        sum += term;
    }
    return std::exp(first + std::log(sum));
}

}  // namespace

double rate_change_p_value(const event_count& one, const event_count& other) {
    for (const double seconds : {one.seconds, other.seconds})
        if (!(seconds > 0) || !std::isfinite(seconds))
            throw invalid_argument("rates can be compared only if both recordings last some time");
    const auto [a, b] =
        std::pair(static_cast<double>(one.events), static_cast<double>(other.events));
    const double all = one.seconds + other.seconds;
    // The tail beyond the higher rate is the smaller one, unless both are above 1/2.
    const double tail = b * one.seconds > a * other.seconds
                            ? upper_tail(b, a + b, other.seconds / all)
                            : upper_tail(a, a + b, one.seconds / all);
    return std::min(1.0, 2 * tail);
}

}  // namespace spikeweave
