#include "spikeweave/assess/multiple_testing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "assess/level.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// The ascending p-values of the first of m tests; the other tests have p = 1.
struct family {
    std::vector<double> p;
    double m;
};

struct outcome {
    std::vector<double> q;
    double rejected;  // number of tests rejected, those with the smallest p first
};

template <class Corrected>
outcome one_step(const family& all, double limit, Corrected corrected) {
    outcome out{all.p, 0};
    for (double& value : out.q) {
        if (value <= limit) ++out.rejected;
        value = std::min(1.0, corrected(value));
    }
    return out;
}

// Step-down: rejects from the smallest p on, until one is above the limit for the remaining tests.
template <class Limit, class Corrected>
outcome step_down(const family& all, Limit limit, Corrected corrected) {
    outcome out{all.p, static_cast<double>(all.p.size())};
    double largest = 0;
    for (std::size_t rank = all.p.size(); rank-- > 0;)
        if (all.p[rank] > limit(all.m - static_cast<double>(rank)))
            out.rejected = static_cast<double>(rank);
    for (std::size_t rank = 0; rank < all.p.size(); ++rank) {
        largest = std::max(largest, corrected(all.p[rank], all.m - static_cast<double>(rank)));
        out.q[rank] = std::min(1.0, largest);
    }
    return out;
}

// Step-up: goes from the largest p down, until one is within the limit for its rank, counted
// from 1.
template <class Limit, class Corrected>
outcome step_up(const family& all, Limit limit, Corrected corrected) {
    outcome out{all.p, 0};
    double smallest = 1;  // smallest value of the unlisted tests, which rank last
    for (std::size_t i = all.p.size(); i-- > 0;) {
        const auto rank = static_cast<double>(i + 1);
        if (out.rejected == 0 && all.p[i] <= limit(rank)) out.rejected = rank;
        smallest = std::min(smallest, corrected(all.p[i], rank));
        out.q[i] = smallest;
    }
    if (all.m > static_cast<double>(all.p.size()) && 1 <= limit(all.m)) out.rejected = all.m;
    return out;
}

double sidak(double p, double tests) {
    return -std::expm1(tests * std::log1p(-p));
}

double sidak_limit(double alpha, double tests) {
    return 1 - std::pow(1 - alpha, 1 / tests);
}

// 1 + 1/2 + ... + 1/m; beyond a million terms by Euler and Maclaurin, whose next term is 1e-26.
double harmonic(double m) {
    constexpr double most = 1e6;
    if (m > most) return std::log(m) + std::numbers::egamma + 1 / (2 * m) - 1 / (12 * m * m);
    double sum = 0;
    for (auto i = static_cast<std::uint64_t>(m); i > 0; --i) sum += 1 / static_cast<double>(i);
    return sum;
}

outcome false_discovery_rate(const family& all, double alpha, double harmonic_sum) {
    const auto share = [&](double rank) { return rank / all.m / harmonic_sum; };
    return step_up(
        all, [&](double rank) { return share(rank) * alpha; },
        [&](double p, double rank) { return p / share(rank); });
}

// The closed test with Simes' tests. For each k, the smallest k p / rank of the last k tests
// counts; it is 1 for an unlisted test. Sets of unlisted tests only would add nothing.
outcome hommel(const family& all, double alpha) {
    outcome out{all.p, 0};
    const std::size_t n = all.p.size();
    const double unlisted = all.m - static_cast<double>(n);
    for (std::size_t first = 0; first < n; ++first) {
        const double k = static_cast<double>(n - first) + unlisted;
        if (k < 2) break;
        double least = unlisted > 0 ? 1 : std::numeric_limits<double>::infinity();
        for (std::size_t i = first; i < n; ++i)
            least = std::min(least, k * all.p[i] / static_cast<double>(i - first + 1));
        for (std::size_t i = 0; i < n; ++i)
            out.q[i] = std::max(out.q[i], i < first ? std::min(k * all.p[i], least) : least);
    }
    for (std::size_t i = 0; i < n; ++i) {
        out.q[i] = std::min(1.0, out.q[i]);
        if (out.q[i] <= alpha) ++out.rejected;
    }
    return out;
}

// Hypotheses that the first stage rejects do not count among the true ones in the second stage.
outcome two_stage(const family& all, double alpha, bool krieger) {
    const double factor = krieger ? 1 + alpha : 1;
    const double first_alpha = alpha / factor;
    outcome out = false_discovery_rate(all, first_alpha, 1);
    double scale = factor;
    if (out.rejected > 0 && out.rejected < all.m) {
        const double remaining = all.m - out.rejected;
        out = false_discovery_rate(all, first_alpha * all.m / remaining, 1);
        scale *= remaining / all.m;
    }
    for (double& value : out.q) value = std::min(1.0, value * scale);
    return out;
}

outcome correct(const family& all, correction_method method, double alpha) {
    const auto times = [](double p, double tests) { return p * tests; };
    switch (method) {
        case correction_method::none:
            return one_step(all, alpha, [](double p) { return p; });
        case correction_method::bonferroni:
            return one_step(all, alpha / all.m, [&](double p) { return p * all.m; });
        case correction_method::sidak:
            return one_step(all, sidak_limit(alpha, all.m),
                            [&](double p) { return sidak(p, all.m); });
        case correction_method::holm_sidak:
            return step_down(
                all, [&](double left) { return sidak_limit(alpha, left); }, sidak);
        case correction_method::holm:
            return step_down(
                all, [&](double left) { return alpha / left; }, times);
        case correction_method::simes_hochberg:
            return step_up(
                all, [&](double rank) { return alpha / (all.m - rank + 1); },
                [&](double p, double rank) { return p * (all.m - rank + 1); });
        case correction_method::hommel:
            return hommel(all, alpha);
        case correction_method::benjamini_hochberg:
            return false_discovery_rate(all, alpha, 1);
        case correction_method::benjamini_yekutieli:
            return false_discovery_rate(all, alpha, harmonic(all.m));
        case correction_method::two_stage_bh:
            return two_stage(all, alpha, false);
        case correction_method::two_stage_bky:
            return two_stage(all, alpha, true);
    }
    throw invalid_argument("no such correction");
}

}  // namespace

template <>
enum_table<correction_method> enum_names<correction_method>() {
    using enum correction_method;
    static constexpr named_value<correction_method> values[]{
        {none, "none"},
        {bonferroni, "bonferroni"},
        {sidak, "sidak"},
        {holm_sidak, "holm-sidak"},
        {holm, "holm"},
        {simes_hochberg, "simes-hochberg"},
        {hommel, "hommel"},
        {benjamini_hochberg, "fdr_bh"},
        {benjamini_yekutieli, "fdr_by"},
        {two_stage_bh, "fdr_tsbh"},
        {two_stage_bky, "fdr_tsbky"},
        {benjamini_hochberg, "bh"},
        {benjamini_hochberg, "benjamini-hochberg"},
        {none, "no"}};
    return {"correction", values};
}

bool is_two_stage(correction_method method) {
    return method == correction_method::two_stage_bh || method == correction_method::two_stage_bky;
}

correction_result correct_tests(std::span<const double> p, std::uint64_t tests,
                                correction_method method, double alpha) {
    if (tests < p.size())
        throw invalid_argument(
            fmt::format("{} p-values cannot come from {} tests", p.size(), tests));
    if (!std::all_of(p.begin(), p.end(), [](double value) { return value >= 0 && value <= 1; }))
        throw invalid_argument("a p-value must lie between 0 and 1");
    assess::check_level("alpha", alpha);

    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
    family all{{}, static_cast<double>(tests)};
    all.p.reserve(p.size());
    for (const std::size_t i : order) all.p.push_back(p[i]);

    correction_result out{std::vector<double>(p.size()), std::vector<bool>(p.size())};
    if (p.empty()) return out;
    const outcome sorted = correct(all, method, alpha);
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        out.q[order[rank]] = sorted.q[rank];
        out.rejected[order[rank]] = static_cast<double>(rank) < sorted.rejected;
    }
    return out;
}

std::vector<double> adjust_p_values(std::span<const double> p, std::uint64_t tests,
                                    correction_method method) {
    if (is_two_stage(method))
        throw invalid_argument(fmt::format(
            "'{}' corrects for one alpha only, which is not known here", to_string(method)));
    return correct_tests(p, tests, method, 1).q;
}

}  // namespace spikeweave
