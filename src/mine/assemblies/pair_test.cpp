#include "mine/assemblies/pair_test.hpp"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <cstdlib>

namespace spikeweave::assemblies {
namespace {

using quiet_policy = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>>;

// The F distribution is a good approximation only if the expected joint count is this far from 0
// and from the largest possible one, as in the authors' program.
constexpr double margin = 5;

double expected_joint(const series& a, const series& b, const layout& bins) {
    double sum = 0;
    const std::size_t levels = std::min(a.at_least.size(), b.at_least.size());
    for (std::size_t i = 0; i < levels; ++i)
        sum += static_cast<double>(a.at_least[i]) * static_cast<double>(b.at_least[i]);
    return sum / static_cast<double>(bins.bins);
}

std::uint32_t count_at(const std::vector<std::uint32_t>& joint, std::int32_t lag) {
    return *(joint.begin() + static_cast<std::ptrdiff_t>(joint.size() / 2) + lag);
}

// The lag with the largest joint count. Of equal ones it is the first from -max_lag on; if the
// reference is the opposite lag, the shortest one, and the positive one of two.
std::int32_t best_lag(const std::vector<std::uint32_t>& joint, std::uint32_t reference_lag) {
    const auto most = static_cast<std::int32_t>(joint.size() / 2);
    if (reference_lag > 0)
        return static_cast<std::int32_t>(std::ranges::max_element(joint) - joint.begin()) - most;
    std::int32_t best = 0;
    for (std::int32_t lag = 1; lag <= most; ++lag)
        for (const std::int32_t signed_lag : {lag, -lag})
            if (count_at(joint, signed_lag) > count_at(joint, best)) best = signed_lag;
    return best;
}

std::int32_t reference_of(std::int32_t lag, std::uint32_t reference_lag) {
    constexpr std::int32_t reference_of_synchrony = -2;
    if (reference_lag == 0) return lag == 0 ? reference_of_synchrony : -lag;
    const auto shorter = static_cast<std::int32_t>(reference_lag);
    return lag < 0 ? lag + shorter : lag - shorter;
}

// Walks through a series chunk by chunk.
class chunk_reader {
public:
    /// @param shift  the chunks begin so many positions later
    chunk_reader(const series& of, std::int32_t shift) : of_(of), shift_(shift) {}

    // Sets at_least[i] to the number of bins of [begin, end) whose count is more than i.
    bool read(std::uint32_t begin, std::uint32_t end, std::vector<double>& at_least) {
        std::ranges::fill(at_least, 0.0);
        begin += static_cast<std::uint32_t>(shift_);
        end += static_cast<std::uint32_t>(shift_);
        while (next_ < of_.size() && of_.at[next_] < begin) ++next_;
        bool any = false;
        for (; next_ < of_.size() && of_.at[next_] < end; ++next_) {
            const auto here = static_cast<std::size_t>(of_.above_floor(next_));
            if (here == 0) continue;
            ++at_least[std::min(here, at_least.size()) - 1];
            any = true;
        }
        for (std::size_t level = at_least.size(); level-- > 1;)
            at_least[level - 1] += at_least[level];
        return any;
    }

private:
    const series& of_;
    std::int32_t shift_;
    std::size_t next_ = 0;
};

// n²(n-1) times the variance of the joint count in a chunk of n bins: the hypergeometric variances
// of the levels and twice the covariances of each level with the higher ones.
double scaled_variance(double n, const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    double higher = 0;
    for (std::size_t level = a.size(); level-- > 0;) {
        const double both = a[level] * b[level];
        sum += (n - a[level]) * (n - b[level]) * (both + 2 * higher);
        higher += both;
    }
    return sum;
}

double p_of(std::uint32_t joint, std::uint32_t reference, double variance, const layout& bins) {
    if (variance <= 0 || joint == reference) return 1;
    // Half a count is subtracted for continuity.
    const double difference =
        std::abs(static_cast<double>(joint) - static_cast<double>(reference)) - 0.5;
    const boost::math::fisher_f_distribution<double, quiet_policy> null(
        1, static_cast<double>(bins.usable));
    return boost::math::cdf(boost::math::complement(null, difference * difference / variance));
}

}  // namespace

dense_counts dense(const series& of, const layout& bins) {
    dense_counts out(bins.positions);
    for (std::size_t i = 0; i < of.size(); ++i) out[of.at[i]] = of.above_floor(i);
    return out;
}

std::vector<std::uint32_t> joint_counts(const series& a, const dense_counts& b,
                                        const layout& bins) {
    const std::size_t lags = 2 * std::size_t{bins.max_lag} + 1;
    std::vector<std::uint32_t> out(lags);
    std::uint32_t* const sums = out.data();
    std::size_t i = 0;
    for (const segment& part : bins.segments) {
        const auto add = [&](std::size_t spike, std::size_t number) {
            const std::int16_t here = a.above_floor(spike);
            const std::int16_t* const there = b.data() + a.at[spike] - bins.max_lag;
            for (std::size_t k = 0; k < number; ++k)
                sums[k] += static_cast<std::uint32_t>(std::min(here, there[k]));
        };
        for (; i < a.size() && a.at[i] < part.usable_end(); ++i) add(i, lags);
        // The last bins can only be those of negative lags.
        for (; i < a.size() && a.at[i] < part.end(); ++i)
            add(i, part.usable_end() - (a.at[i] - bins.max_lag));
    }
    return out;
}

double difference_variance(const series& a, const series& b, std::int32_t lag, const layout& bins) {
    const std::size_t levels = std::min(a.at_least.size(), b.at_least.size());
    if (levels == 0) return 0;
    std::vector<double> in_a(levels);
    std::vector<double> in_b(levels);
    chunk_reader reader_a(a, std::max(0, -lag));
    chunk_reader reader_b(b, std::max(0, lag));
    double sum = 0;
    for (const segment& part : bins.segments)
        for (std::uint32_t c = 0; c < part.chunks; ++c) {
            const std::uint32_t begin = part.first + c * part.chunk;
            const std::uint32_t end = c + 1 == part.chunks ? part.usable_end() : begin + part.chunk;
            const bool any_a = reader_a.read(begin, end, in_a);
            const bool any_b = reader_b.read(begin, end, in_b);
            const double n = end - begin;
            if (!any_a || !any_b || n < 3) continue;
            // Var[X - Y] = 2 (Var[X] - Cov[X, Y]), and the covariance of the counts at two lags is
            // the variance divided by n - 1.
            sum += 2 * scaled_variance(n, in_a, in_b) * (n - 2) / (n * n * (n - 1) * (n - 1));
        }
    return sum;
}

std::optional<pair_score> test_pair(const series& a, const series& b, const dense_counts& at,
                                    std::uint32_t reference_lag, const layout& bins) {
    const double expected = expected_joint(a, b, bins);
    if (expected <= margin) return pair_score{.is_too_rare = true};
    if (expected >= static_cast<double>(std::min(a.total, b.total)) - margin) return {};
    const std::vector<std::uint32_t> joint = joint_counts(a, at, bins);
    pair_score out{.lag = best_lag(joint, reference_lag)};
    out.joint = count_at(joint, out.lag);
    if (out.joint == 0) return {};
    out.reference = count_at(joint, reference_of(out.lag, reference_lag));
    out.p = p_of(out.joint, out.reference, difference_variance(a, b, out.lag, bins), bins);
    return out;
}

series joined(const series& a, const dense_counts& b, std::int32_t lag, const layout& bins) {
    series out;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto there = static_cast<std::size_t>(static_cast<std::int64_t>(a.at[i]) + lag);
        const std::int16_t both = std::min(a.above_floor(i), b[there]);
        if (both == 0) continue;
        out.at.push_back(a.at[i]);
        out.count.push_back(both);
    }
    out.finish(bins.bins);
    return out;
}

}  // namespace spikeweave::assemblies
