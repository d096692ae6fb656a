#include "spikeweave/assess/label_permutation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/double_policy.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"

namespace spikeweave {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
// Statistics that differ by less are equal, because sums in another order are rounded otherwise.
constexpr double rounding = 1e-9;
// A variance below this share of the squared ratios is that of equal samples, with rounding errors.
constexpr double no_variance = 1e-13;

// The sums over the samples of a condition from which its ratio and its variance follow.
struct ratio_sums {
    double samples = 0;
    double amount = 0;
    double per = 0;
    double amount_squared = 0;
    double product = 0;
    double per_squared = 0;

    void add(const ratio_sample& one) {
        if (!(one.per > 0)) return;
        samples += 1;
        amount += one.amount;
        per += one.per;
        amount_squared += one.amount * one.amount;
        product += one.amount * one.per;
        per_squared += one.per * one.per;
    }
    ratio_sums without(const ratio_sums& other) const {
        return {samples - other.samples, amount - other.amount,
                per - other.per,         amount_squared - other.amount_squared,
                product - other.product, per_squared - other.per_squared};
    }
    bool has_variance() const { return samples >= 2; }
    double ratio() const { return samples >= 1 ? amount / per : not_known; }
    // The variance of a ratio estimator (Cochran 1977, Sampling Techniques, ch. 6): that of the
    // residuals amount - ratio × per.
    double variance() const {
        const double r = ratio();
        const double residuals = amount_squared - 2 * r * product + r * r * per_squared;
        return std::max(0.0, residuals) * samples / (samples - 1) / (per * per);
    }
};

double statistic(const ratio_sums& a, const ratio_sums& b) {
    // Such a labelling counts as one that is as extreme as any, which can only make p larger.
    if (!a.has_variance() || !b.has_variance()) return infinite;
    const double difference = std::abs(b.ratio() - a.ratio());
    const double scale = std::abs(a.ratio()) + std::abs(b.ratio());
    if (difference <= 1e-12 * scale) return 0;
    const double variance = a.variance() + b.variance();
    return variance <= no_variance * scale * scale ? infinite : difference / std::sqrt(variance);
}

// The half width of an interval, in standard errors, with the degrees of freedom of Welch (1947,
// Biometrika 34:28).
double half_width(double variance_a, double samples_a, double variance_b, double samples_b,
                  double confidence) {
    const double both = variance_a + variance_b;
    if (!(both > 0)) return 0;
    const double freedom =
        both * both /
        (variance_a * variance_a / (samples_a - 1) + variance_b * variance_b / (samples_b - 1));
    const boost::math::students_t_distribution<double, core::double_policy> distribution(freedom);
    return boost::math::quantile(distribution, (1 + confidence) / 2) * std::sqrt(both);
}

ratio_change change_between(const ratio_sums& a, const ratio_sums& b, double confidence) {
    ratio_change out{a.ratio(), b.ratio(), {}, {not_known, not_known, not_known}, 1};
    const double difference = out.b - out.a;
    out.difference = {difference, not_known, not_known};
    const bool have_ratio = out.a > 0 && out.b > 0;
    if (have_ratio) out.ratio.value = out.b / out.a;
    if (!a.has_variance() || !b.has_variance()) return out;
    const double half = half_width(a.variance(), a.samples, b.variance(), b.samples, confidence);
    out.difference = {difference, difference - half, difference + half};
    if (!have_ratio) return out;
    const double log_half = half_width(a.variance() / (out.a * out.a), a.samples,
                                       b.variance() / (out.b * out.b), b.samples, confidence);
    out.ratio.low = out.ratio.value * std::exp(-log_half);
    out.ratio.high = out.ratio.value * std::exp(log_half);
    return out;
}

// The number of ways to choose, or one more than `most` if there are more.
std::uint64_t ways_to_choose(std::uint64_t n, std::uint64_t k, std::uint64_t most) {
    double ways = 1;
    for (std::uint64_t i = 1; i <= k; ++i) {
        ways = ways * static_cast<double>(n - k + i) / static_cast<double>(i);
        if (ways > static_cast<double>(most) + 0.5) return most + 1;
    }
    return static_cast<std::uint64_t>(std::llround(ways));
}

// The samples that each labelling gives to the smaller condition, one labelling after another.
class chosen_samples {
public:
    chosen_samples(std::size_t samples, std::size_t chosen, const label_permutations& which,
                   const permutation_options& options)
        : chosen_(chosen) {
        indices_.reserve(which.number * chosen);
        if (which.exact)
            list_all(samples);
        else
            draw(samples, which.number, options.seed);
    }

    std::size_t size() const { return indices_.size() / chosen_; }
    std::span<const std::uint32_t> operator[](std::size_t labelling) const {
        return std::span{indices_}.subspan(labelling * chosen_, chosen_);
    }

private:
    void list_all(std::size_t samples) {
        std::vector<std::uint32_t> now(chosen_);
        std::iota(now.begin(), now.end(), 0U);
        for (;;) {
            indices_.insert(indices_.end(), now.begin(), now.end());
            std::size_t k = chosen_;
            while (k > 0 && now[k - 1] == samples - chosen_ + k - 1) --k;
            if (k == 0) return;
            std::iota(now.begin() + static_cast<std::ptrdiff_t>(k - 1), now.end(), now[k - 1] + 1);
        }
    }

    void draw(std::size_t samples, std::uint64_t number, std::uint64_t seed) {
        std::vector<std::uint32_t> order(samples);
        for (std::uint64_t p = 0; p < number; ++p) {
            random_stream random(seed, random_purpose::label_permutation,
                                 static_cast<std::uint32_t>(p));
            std::iota(order.begin(), order.end(), 0U);
            for (std::size_t i = 0; i < chosen_; ++i)
                std::swap(order[i], order[i + random.below(samples - i)]);
            indices_.insert(indices_.end(), order.begin(),
                            order.begin() + static_cast<std::ptrdiff_t>(chosen_));
        }
    }

    std::size_t chosen_;
    std::vector<std::uint32_t> indices_{};
};

ratio_change compare_one(std::span<const ratio_sample> samples, std::size_t samples_a,
                         const chosen_samples& labellings, bool exact, double confidence) {
    ratio_sums all;
    ratio_sums a;
    ratio_sums b;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        all.add(samples[i]);
        (i < samples_a ? a : b).add(samples[i]);
    }
    ratio_change out = change_between(a, b, confidence);
    if (!a.has_variance() || !b.has_variance()) return out;
    const double observed = statistic(a, b) * (1 - rounding);
    std::uint64_t reached = 0;
    for (std::size_t p = 0; p < labellings.size(); ++p) {
        ratio_sums chosen;
        for (const std::uint32_t i : labellings[p]) chosen.add(samples[i]);
        reached += statistic(chosen, all.without(chosen)) >= observed ? 1 : 0;
    }
    const double others = exact ? 0 : 1;
    out.p =
        (static_cast<double>(reached) + others) / (static_cast<double>(labellings.size()) + others);
    return out;
}

}  // namespace

option_list describe(permutation_options& options) {
    option_list list;
    list.add("permutations", options.permutations,
             "number of random assignments of the samples to the two conditions; if there are no "
             "more than this in all, each is used once")
        .at_least(1);
    list.add("seed", options.seed, "random seed of these assignments").basic();
    list.add("confidence", options.confidence, "level of the confidence intervals")
        .at_least(0.5)
        .at_most(0.9999);
    return list;
}

label_permutations permutations_of(std::size_t samples_a, std::size_t samples_b,
                                   const permutation_options& options) {
    check_options(options);
    if (samples_a < 2 || samples_b < 2)
        throw invalid_argument(
            fmt::format("the test needs two samples of each condition; there are {} and {}",
                        samples_a, samples_b));
    const std::uint64_t most = options.permutations;
    const std::uint64_t all =
        ways_to_choose(samples_a + samples_b, std::min(samples_a, samples_b), most);
    if (all > most) return {false, most, 1 / (static_cast<double>(most) + 1)};
    // A labelling and the one that exchanges the conditions have the same two-sided statistic.
    const double least = samples_a == samples_b ? 2 : 1;
    return {true, all, least / static_cast<double>(all)};
}

std::vector<ratio_change> compare_ratios(std::span<const std::vector<ratio_sample>> quantities,
                                         std::size_t samples_a, const permutation_options& options,
                                         const execution& run) {
    std::vector<ratio_change> out(quantities.size());
    if (quantities.empty()) return out;
    const std::size_t samples = quantities.front().size();
    for (const std::vector<ratio_sample>& one : quantities)
        if (one.size() != samples || samples < samples_a)
            throw invalid_argument("every quantity needs all samples of both conditions");
    const label_permutations which = permutations_of(samples_a, samples - samples_a, options);
    const chosen_samples labellings(samples, std::min(samples_a, samples - samples_a), which,
                                    options);
    parallel::parallel_for(quantities.size(), run, "permuting labels", [&](std::size_t i) {
        out[i] = compare_one(quantities[i], samples_a, labellings, which.exact, options.confidence);
    });
    return out;
}

}  // namespace spikeweave
