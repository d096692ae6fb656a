#include "assess/episodes/count_distribution.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace spikeweave::assess {
namespace {

// The whole part of -4 log2 of a probability, read from its exponent and its mantissa: those in one
// pool differ by less than a fifth.
std::size_t pool_of(double probability) {
    constexpr int rarest = 160;
    constexpr int mantissa_bits = 52;
    constexpr int bias = 1023;
    constexpr std::uint64_t one = std::uint64_t{bias} << mantissa_bits;
    constexpr std::uint64_t fraction = (std::uint64_t{1} << mantissa_bits) - 1;
    // Powers of 1/2 by quarters, times 2.
    constexpr std::array quarters{1.6817928305074290, std::numbers::sqrt2, 1.1892071150027210, 1.0};
    const auto bits = std::bit_cast<std::uint64_t>(std::min(1.0, probability));
    const auto mantissa = std::bit_cast<double>((bits & fraction) | one);
    const int exponent = static_cast<int>(bits >> mantissa_bits) - bias + 1;
    int pool = -4 * exponent;
    for (const double bound : quarters) pool += mantissa <= bound ? 1 : 0;
    return static_cast<std::size_t>(std::min(rarest, pool));
}

// Up to this count the pooled distribution is added up; beyond it the saddlepoint is close.
constexpr std::uint64_t most_added_up = 40;
// Number of terms beyond the count. If they are needed, each is at most about half the one before.
constexpr std::size_t terms_behind = 60;

void multiply(std::vector<double>& series, std::span<const double> by) {
    for (std::size_t k = series.size(); k-- > 0;) {
        double sum = 0;
        for (std::size_t j = 0; j <= k && j < by.size(); ++j) sum += by[j] * series[k - j];
        series[k] = sum;
    }
}

// The first coefficients of the n-th power of a polynomial, by the recurrence of its logarithmic
// derivative: all its terms are positive where n is at least their number.
std::vector<double> power(std::span<const double> of, double n, std::size_t terms) {
    std::vector<double> out(terms);
    out[0] = std::pow(of[0], n);
    for (std::size_t k = 1; k < terms; ++k) {
        double sum = 0;
        for (std::size_t j = 1; j <= k && j < of.size(); ++j)
            sum += (static_cast<double>(j) * (n + 1) - static_cast<double>(k)) * of[j] * out[k - j];
        out[k] = sum / (static_cast<double>(k) * of[0]);
    }
    return out;
}

// Both tails of a sum by the saddlepoint formula, from its cumulants `at` an argument, which are
// finite up to `widest`. The count is above 0, and below the largest value of the sum.
template <class Cumulants>
count_tails saddlepoint_tails(double count, double mean, double widest, const Cumulants& at) {
    const double spread = at(0).second;
    if (!(spread > 1e-9)) return count <= mean * (1 + 1e-9) ? count_tails{0, 1} : count_tails{1, 0};
    double high = widest;
    double low = -high;
    // Takes Newton's steps from the middle, and bisects if a step would leave the bracket.
    double theta = std::clamp((count - mean) / spread, low / 2, high / 2);
    cumulants here = at(theta);
    for (int step = 0; step < 200 && std::abs(here.first - count) > 1e-9 * count; ++step) {
        (here.first < count ? low : high) = theta;
        const double newton = theta + (count - here.first) / here.second;
        theta = newton > low && newton < high ? newton : (low + high) / 2;
        here = at(theta);
    }
    const double exponent = std::max(0.0, theta * count - here.value);
    const double w = std::copysign(std::sqrt(2 * exponent), theta);
    if (std::abs(w) < 1e-4) return {0.5, 0.5};
    const double u = -std::expm1(-theta) * std::sqrt(std::max(0.0, here.second));
    const double bound = std::exp(-exponent);  // of Chernoff, for the tail that is small
    const double most_below = theta > 0 ? 1 : bound;
    const double most_from = theta > 0 ? bound : 1;
    if (!(std::abs(u) > 1e-12)) return {most_below, most_from};
    const double density = std::exp(-exponent) / std::sqrt(2 * std::numbers::pi);
    const double beyond = density * (1 / u - 1 / w);
    return {std::clamp(std::erfc(-w / std::numbers::sqrt2) / 2 - beyond, 0.0, most_below),
            std::clamp(std::erfc(w / std::numbers::sqrt2) / 2 + beyond, 0.0, most_from)};
}

}  // namespace

template <class Take>
void count_distribution::each_pool(const Take& take) const {
    for (const single_pool& one : singles_)
        if (one.number > 0) take(one.number, std::span{&one.sum, 1});
    for (const auto& [key, members] : pools_) take(members.number, std::span{members.sum});
}

void count_distribution::add(double probability) {
    if (!(probability > 0)) return;
    single_pool& into = singles_[pool_of(probability)];
    into.number += 1;
    into.sum += probability;
    mean_ += probability;
}

void count_distribution::add(std::span<const double> of) {
    if (of.size() == 1) return add(of.front());
    double any = 0;
    for (const double p : of) any += p;
    if (!(any > 0)) return;
    pool& into = pools_[{of.size(), pool_of(any)}];
    into.sum.resize(of.size());
    into.number += 1;
    for (std::size_t j = 0; j < of.size(); ++j) {
        into.sum[j] += of[j];
        mean_ += static_cast<double>(j + 1) * of[j];
    }
}

cumulants count_distribution::at(double theta) const {
    cumulants out;
    each_pool([&](double number, std::span<const double> sums) {
        double moment = 1;
        double first = 0;
        double second = 0;
        for (std::size_t j = 0; j < sums.size(); ++j) {
            const double p = sums[j] / number;
            const auto value = static_cast<double>(j + 1);
            const double grown = p * std::exp(theta * value);
            moment += grown - p;
            first += value * grown;
            second += value * value * grown;
        }
        moment = std::max(moment, std::numeric_limits<double>::min());
        out.value += number * std::log(moment);
        out.first += number * first / moment;
        out.second += number * (second / moment - (first / moment) * (first / moment));
    });
    return out;
}

count_tails count_distribution::added_up_tails(std::size_t count) const {
    const std::size_t terms = count + terms_behind;
    std::vector<double> sum(terms);
    sum[0] = 1;
    each_pool([&](double number, std::span<const double> sums) {
        std::vector<double> one{1};
        for (const double p : sums) {
            one.push_back(p / number);
            one[0] -= one.back();
        }
        one[0] = std::max(one[0], 0.0);
        if (number > static_cast<double>(terms) && one[0] > 0) {
            multiply(sum, power(one, number, terms));
        } else {
            for (double n = 0; n < number; ++n) multiply(sum, one);
        }
    });
    double below = 0;
    double from = 0;
    for (std::size_t k = 0; k < terms; ++k) (k < count ? below : from) += sum[k];
    // Each of the two ways of adding up loses the digits that the other keeps.
    constexpr double small = 1e-6;
    return {std::clamp(below, 0.0, 1.0),
            std::clamp(1 - below > small ? 1 - below : from, 0.0, 1.0)};
}

double count_distribution::tail_probability(std::uint64_t count) const {
    return tails_at(count).from;
}

count_tails count_distribution::tails_at(std::uint64_t count) const {
    if (count == 0) return {0, 1};
    // If the mean is several times the count, the first coefficients vanish.
    constexpr double largest_mean = 300;
    if (count <= most_added_up && mean_ < largest_mean)
        return added_up_tails(static_cast<std::size_t>(count));
    // Powers of e up to here are finite.
    const double widest =
        600.0 / static_cast<double>(pools_.empty() ? 1 : pools_.rbegin()->first.first);
    return saddlepoint_tails(static_cast<double>(count), mean_, widest,
                             [&](double theta) { return at(theta); });
}

}  // namespace spikeweave::assess
