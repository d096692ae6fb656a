#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <utility>

#include "core/text.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {
namespace {

using quiet = boost::math::policies::policy<
    boost::math::policies::promote_double<false>,
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>>;

// P(X > k) for X ~ Bin(n, p), not computed as 1 - P(X <= k), so that tails of 1e-12 keep all their
// digits.
double upper_tail(std::uint32_t k, std::uint32_t n, double p) {
    if (k >= n) return 0;
    return boost::math::ibeta(k + 1.0, static_cast<double>(n - k), p, quiet());
}

// The smallest k with P(X > k) <= q, for 0 < q < 1: scipy.stats.binom.isf.
std::uint32_t inverse_upper_tail(double q, std::uint32_t n, double p) {
    std::uint32_t low = 0;
    std::uint32_t high = n;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (upper_tail(middle, n, p) <= q)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Interpolates linearly between the two neighbours, like numpy.percentile.
double percentile(std::vector<double> values, double percent) {
    std::sort(values.begin(), values.end());
    const double at = static_cast<double>(values.size() - 1) * percent / 100;
    const auto below = static_cast<std::size_t>(at);
    const double part = at - static_cast<double>(below);
    const double low = values[below];
    const double high = values[std::min(below + 1, values.size() - 1)];
    return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

void check(const min_occ_options& recipe, duration length, duration bin,
           std::uint32_t window_bins) {
    check_options(recipe);
    if (recipe.most_spikes < recipe.least_spikes)
        throw invalid_argument(fmt::format("the sizes must ascend, not from {} to {}",
                                           recipe.least_spikes, recipe.most_spikes));
    if (bin <= duration{0} || length < bin)
        throw invalid_argument(fmt::format("{} of spikes in bins of {}, expected at least one bin",
                                           format_duration(length), format_duration(bin)));
    if (window_bins <= recipe.least_spikes)
        throw invalid_argument(fmt::format(
            "`min_occ=auto` needs a window of more bins than the {} spikes of the smallest "
            "pattern, found {}: give `min_occ` as a number, or a longer `window`",
            recipe.least_spikes, window_bins));
}

// The published model of a chance pattern of z spikes: z units that fire at the same rate.
class chance_patterns {
public:
    chance_patterns(std::span<const std::size_t> spike_counts, duration length, duration bin,
                    std::uint32_t window_bins, const min_occ_options& recipe);

    std::size_t units() const { return units_; }
    /// The count that is exceeded with the probability left by the correction for patterns of
    /// `corrected_size`.
    std::uint32_t count(std::uint32_t z, std::uint32_t corrected_size) const {
        return inverse_upper_tail(probability(corrected_size), bins_, std::pow(fires_, z));
    }
    /// The published result: the code uses 1 - q, and so returns all bins if that is 1.
    std::uint32_t published_count(std::uint32_t z) const {
        return 1 - probability(z) < 1 ? count(z, z) : bins_;
    }

private:
    double tests_of_size(std::uint32_t z) const;
    double probability(std::uint32_t z) const { return q_ / tests_of_size(z); }

    std::uint32_t window_bins_;
    std::uint32_t bins_;
    double q_;
    std::size_t units_ = 0;  // number of units that fire
    double fires_ = 0;       // spikes per bin
};

chance_patterns::chance_patterns(std::span<const std::size_t> spike_counts, duration length,
                                 duration bin, std::uint32_t window_bins,
                                 const min_occ_options& recipe)
    : window_bins_(window_bins),
      // Cut like the published code, in double precision.
      bins_(static_cast<std::uint32_t>(to_seconds(length) / to_seconds(bin))),
      q_(1 - recipe.poisson_percentile / 100) {
    std::vector<double> rates;
    rates.reserve(spike_counts.size());
    for (const std::size_t count : spike_counts)
        if (count > 0) rates.push_back(static_cast<double>(count) / to_seconds(length));
    if (rates.empty()) throw invalid_argument("no unit fires");
    units_ = rates.size();
    fires_ = percentile(std::move(rates), recipe.rate_percentile) * to_seconds(bin);
    if (fires_ > 1)
        throw invalid_argument(fmt::format(
            "a unit at the {}th percentile of the rates fires {:.2f} times a bin, expected at "
            "most once: bins of {} are too wide",
            recipe.rate_percentile, fires_, format_duration(bin)));
}

// The number of choices of units times w! / (w - z - 1)!, which has one factor more than there are
// spikes, as published.
double chance_patterns::tests_of_size(std::uint32_t z) const {
    double out = 1;
    for (std::uint32_t i = 0; i <= z; ++i) out *= window_bins_ - i;
    for (std::uint32_t i = 0; i < z; ++i)
        out *= static_cast<double>(units_ - i) / static_cast<double>(i + 1);
    return out;
}

}  // namespace

option_list describe(pattern_rule& rule) {
    option_list list;
    list.add("min_occ", rule.min_occ, "minimum number of occurrences").at_least(1);
    list.add("min_spikes", rule.min_spikes, "minimum number of spikes in a pattern").at_least(1);
    list.add("max_spikes", rule.max_spikes, "maximum number of spikes in a pattern");
    list.add("min_neu", rule.min_neu, "minimum number of different units in a pattern").at_least(1);
    return list;
}

option_list describe(min_occ_options& options) {
    option_list list;
    list.add("rate_percentile", options.rate_percentile, "percentile of the firing rates")
        .at_least(0)
        .at_most(100);
    list.add("poisson_percentile", options.poisson_percentile,
             "percentile of the occurrences in the Poisson model")
        .at_least(0)
        .at_most(100)
        .obeys([&percentile = options.poisson_percentile] {
            if (percentile == 100) throw invalid_argument("at 100, no count is rare enough");
        });
    list.add("least_occ", options.least_occ, "lowest threshold").at_least(1);
    list.add("least_spikes", options.least_spikes, "smallest size").at_least(1);
    list.add("most_spikes", options.most_spikes, "size of which the rule is that of larger ones")
        .at_least(1);
    return list;
}

std::vector<pattern_rule> estimate_rules(std::span<const std::size_t> spike_counts, duration length,
                                         duration bin, std::uint32_t window_bins,
                                         const min_occ_options& recipe) {
    check(recipe, length, bin, window_bins);
    const chance_patterns chance(spike_counts, length, bin, window_bins, recipe);
    std::vector<pattern_rule> rules;
    rules.reserve(recipe.most_spikes - recipe.least_spikes + 1);
    std::uint32_t count = UINT32_MAX;
    for (std::uint32_t z = recipe.least_spikes; z <= recipe.most_spikes; ++z) {
        // Once the threshold has reached the lowest one, it stays there. More units than there are
        // never fire together.
        if (z > chance.units()) count = recipe.least_occ;
        if (count > recipe.least_occ) {
            if (window_bins <= z)
                throw invalid_argument(
                    "window", fmt::format("it has {} bins, in which patterns of {} spikes still "
                                          "occur {} times by chance: expected more than {} bins, "
                                          "or a number for `min_occ`",
                                          window_bins, z - 1, core::grouped(count), z));
            const std::uint32_t before = count;
            count = z == recipe.least_spikes ? chance.count(z, z) : chance.published_count(z);
            // Larger patterns are rarer; only the correction can raise their threshold.
            if (count > before) count = chance.count(z, z - 1);
        }
        rules.push_back({.min_occ = std::max(count, recipe.least_occ),
                         .min_spikes = z,
                         .max_spikes = z < recipe.most_spikes ? z : 0,
                         .min_neu = z});
    }
    return rules;
}

}  // namespace spikeweave
