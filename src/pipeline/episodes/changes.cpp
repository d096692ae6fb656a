#include "spikeweave/pipeline/episodes/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "pipeline/episodes/finding_counts.hpp"
#include "pipeline/episodes/search_and_test.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using pipeline::sample_counts;

// Fewer windows than this have too few orders for a p below 0.05.
constexpr std::size_t enough_windows = 8;

using series_list = std::vector<std::vector<double>>;

struct counted_windows {
    series_list firing{};  ///< spikes of each unit
    std::vector<sample_counts> findings{};
};

counted_windows count_windows(const spike_sequence& spikes, std::span<const time_span> windows,
                              std::span<const episode> findings, const episode_options& search,
                              const execution& run) {
    counted_windows out{
        .firing = series_list(spikes.unit_count(), std::vector<double>(windows.size())),
        .findings = std::vector<sample_counts>(windows.size())};
    parallel::parallel_for(windows.size(), run, "counting in windows", [&](std::size_t w) {
        const spike_sequence inside = within_epochs(spikes, windows.subspan(w, 1));
        for (const unit_id unit : inside.units()) ++out.firing[to_index(unit)][w];
        out.findings[w] = pipeline::count_sample(inside, findings, search.mining.ties,
                                                 search.significance.jitter_window, run.stop);
    });
    return out;
}

// A finding in all windows. Its excess is the sum of `beyond`, divided by that of `removed`.
struct counted_finding {
    std::vector<double> counts{};
    std::vector<double> seconds{};
    std::vector<double> expected{};  ///< by the firing rates
    std::vector<double> beyond{};    ///< counts without these
    std::vector<double> removed{};   ///< of a true occurrence for each spike of the first unit
};

counted_finding finding_in(const counted_windows& windows, std::size_t f, std::size_t units) {
    const std::size_t turned = pipeline::most_expected(windows.findings, f, units);
    counted_finding out;
    for (const sample_counts& one : windows.findings) {
        out.counts.push_back(static_cast<double>(one.counts[f]));
        out.seconds.push_back(one.seconds);
        out.expected.push_back(one.expected[f][turned]);
        out.beyond.push_back(out.counts.back() - out.expected.back());
        out.removed.push_back(one.removed[f][turned]);
    }
    return out;
}

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double ratio_of(std::span<const double> amounts, std::span<const double> divisors) {
    const double divisor = std::accumulate(divisors.begin(), divisors.end(), 0.0);
    return divisor > 0 ? std::accumulate(amounts.begin(), amounts.end(), 0.0) / divisor : unknown;
}

// The residuals of a count whose excess is the same in all windows, with the same variance in each:
// where units fire less the count varies less, which is no change. The variance is that of a
// negative binomial count, mean + dispersion × mean², because bursts let counts vary more.
std::vector<double> residuals_of(const counted_finding& in) {
    const double ratio = ratio_of(in.beyond, in.removed);
    const double excess = ratio > 0 ? ratio : 0;  // also if it is unknown
    std::vector<double> means;
    double beyond_poisson = 0;
    double squares = 0;
    for (std::size_t w = 0; w < in.counts.size(); ++w) {
        const double mean = in.expected[w] + excess * in.removed[w];
        means.push_back(mean);
        beyond_poisson += (in.counts[w] - mean) * (in.counts[w] - mean) - mean;
        squares += mean * mean;
    }
    const double dispersion = squares > 0 ? std::max(0.0, beyond_poisson / squares) : 0;
    std::vector<double> out;
    for (std::size_t w = 0; w < means.size(); ++w) {
        const double variance = means[w] + dispersion * means[w] * means[w];
        out.push_back(variance > 0 ? (in.counts[w] - means[w]) / std::sqrt(variance) : 0);
    }
    return out;
}

measured_change measured(const std::optional<change_point>& point, std::span<const double> amounts,
                         std::span<const double> divisors) {
    if (!point) return {.before = unknown, .after = unknown};
    const std::size_t at = point->at;
    return {.point = point,
            .before = ratio_of(amounts.first(at), divisors.first(at)),
            .after = ratio_of(amounts.subspan(at), divisors.subspan(at))};
}

void correct(std::vector<finding_change>& findings, measured_change finding_change::*measure) {
    std::vector<double> p;
    p.reserve(findings.size());
    for (const finding_change& one : findings)
        p.push_back((one.*measure).point ? (one.*measure).point->p : 1);
    const std::vector<double> q =
        adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    for (std::size_t f = 0; f < findings.size(); ++f) (findings[f].*measure).q = q[f];
}

void test_findings(circuit_changes& out, std::span<const counted_finding> counted,
                   const series_list& residuals, const change_point_options& options,
                   const execution& run) {
    series_list counts;
    for (const counted_finding& one : counted) counts.push_back(one.counts);
    const auto rates = likeliest_changes(counts, options, run);
    const auto excesses = likeliest_changes(residuals, options, run);
    for (std::size_t f = 0; f < out.findings.size(); ++f) {
        out.findings[f].rate = measured(rates[f], counted[f].counts, counted[f].seconds);
        out.findings[f].excess = measured(excesses[f], counted[f].beyond, counted[f].removed);
    }
    correct(out.findings, &finding_change::rate);
    correct(out.findings, &finding_change::excess);
    for (finding_change& one : out.findings)
        one.change = one.excess.q < options.alpha ? change_kind::excess
                     : one.rate.q < options.alpha ? change_kind::rate
                                                  : change_kind::none;
}

// Searches all windows as one recording.
episode_result search_together(const spike_sequence& spikes, std::size_t windows,
                               episode_options search, const execution& run) {
    search.time = {};
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    if (auto& least = search.mining.min_count)
        least = *least > most / windows ? most : *least * windows;
    return pipeline::find_and_test(spikes, search, run);
}

// A count stands for a rate only in windows of one length.
void check_windows(std::span<const time_span> windows) {
    if (windows.empty()) throw invalid_argument("expected windows, found none");
    for (const time_span& one : windows)
        if (one.length() != windows.front().length())
            throw invalid_argument(fmt::format("expected windows of one length, found {} and {}",
                                               format_duration(windows.front().length()),
                                               format_duration(one.length())));
}

}  // namespace

std::vector<time_span> windows_apart(std::span<const time_span> windows) {
    std::vector<time_span> out;
    for (const time_span& one : windows)
        if (out.empty() || one.begin >= out.back().end) out.push_back(one);
    return out;
}

circuit_changes find_circuit_changes(const spike_sequence& spikes,
                                     std::span<const time_span> windows,
                                     const episode_options& search,
                                     const change_point_options& options, const execution& run) {
    check_options(options);
    check_windows(windows);
    circuit_changes out{.windows = {windows.begin(), windows.end()}};
    const spike_sequence inside = within_epochs(spikes, windows);
    episode_result together = search_together(inside, windows.size(), search, run);
    out.warnings = std::move(together.warnings);
    const std::vector<episode> findings = pipeline::direct_edges_and_chains(together);
    for (const episode& one : findings) out.findings.push_back({.what = one});

    execution counting = run;
    counting.threads = search.run.threads;
    const counted_windows counted =
        count_windows(inside, windows, findings, together.options, counting);
    std::vector<counted_finding> all;
    series_list residuals;
    for (std::size_t f = 0; f < findings.size(); ++f) {
        all.push_back(finding_in(counted, f, findings[f].size()));
        residuals.push_back(residuals_of(all.back()));
    }
    out.firing_rates = find_change_points(counted.firing, options, counting);
    out.circuit = find_change_points(residuals, options, counting);
    test_findings(out, all, residuals, options, counting);
    // The least p is 1 / (permutations + 1), and q of a finding that changes alone is that times
    // the number of findings.
    const double least_q = static_cast<double>(findings.size()) / (options.permutations + 1.0);
    if (least_q >= options.alpha)
        out.warnings.push_back(fmt::format(
            "With {} random orders, none of {} edges and chains can be significant at {} if it "
            "changes alone: use `change_permutations` of {} or more.",
            core::grouped(options.permutations), core::grouped(findings.size()), options.alpha,
            core::grouped(static_cast<std::uint64_t>(
                std::floor(static_cast<double>(findings.size()) / options.alpha)))));
    if (windows.size() < enough_windows)
        out.warnings.push_back(
            fmt::format("There are only {} windows that share no time, which have too few orders "
                        "for a p below 0.05: make windows shorter, so that there are {} or more.",
                        windows.size(), enough_windows));
    return out;
}

}  // namespace spikeweave
