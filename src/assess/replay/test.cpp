// Both halves of the test: counts of scaled chains against shuffles, and the order in events.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "assess/replay/counts.hpp"
#include "assess/replay/order.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using counts_of_shuffles = std::vector<std::vector<std::uint64_t>>;

void check_replay(const spike_sequence& spikes, std::span<const episode> chains,
                  std::span<const time_span> events, const replay_options& options) {
    check_options(options);
    if (chains.empty()) throw invalid_argument("there is no chain to search for");
    for (const episode& one : chains) {
        if (one.size() < 2 || one.delays.size() + 1 != one.size())
            throw invalid_argument(
                "a chain needs at least two units, and one delay between two units");
        for (const unit_id unit : one.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument(fmt::format("a chain has unit {}, but there are {} units",
                                                   to_index(unit), spikes.unit_count()));
    }
    if (events.empty()) throw invalid_argument("there is no event in which a chain could occur");
}

counts_of_shuffles count_all(const spike_sequence& spikes, std::span<const episode> chains,
                             std::span<const time_span> events, const replay_options& options,
                             const execution& run) {
    const auto counter = assess::counter_of(spikes, chains, events, options);
    counts_of_shuffles all(std::size_t{options.surrogates.surrogates} + 1);
    const execution alone{.threads = 1, .stop = run.stop};
    parallel::parallel_for(all.size(), run, "counting in shuffles", [&](std::size_t k) {
        all[k] = counter->count(static_cast<std::uint32_t>(k), alone);
    });
    return all;
}

// The mean and the standard deviation of one count over the spikes and all shuffles, which are
// exchangeable under the null model. A deviation below 1 counts as 1, so that a single chance
// occurrence at a scale with hardly any does not stand out.
std::pair<double, double> moments(const counts_of_shuffles& all, std::size_t column) {
    const auto size = static_cast<double>(all.size());
    double mean = 0;
    for (const auto& one : all) mean += static_cast<double>(one[column]) / size;
    double variance = 0;
    for (const auto& one : all) {
        const double off = static_cast<double>(one[column]) - mean;
        variance += off * off / size;
    }
    return {mean, std::max(1.0, std::sqrt(variance))};
}

// Sets the best scale and p. The columns of this chain and direction begin at `first`.
void test_counts(const counts_of_shuffles& all, std::size_t first, std::span<const double> scales,
                 replay_test& test) {
    std::vector<double> highest(all.size(), -HUGE_VAL);
    std::size_t best = 0;
    double mean_at_best = 0;
    for (std::size_t s = 0; s < scales.size(); ++s) {
        const auto [mean, deviation] = moments(all, first + s);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const double z = (static_cast<double>(all[k][first + s]) - mean) / deviation;
            if (z <= highest[k]) continue;
            highest[k] = z;
            if (k == 0) best = s, mean_at_best = mean;
        }
    }
    const auto reached = std::count_if(highest.begin() + 1, highest.end(),
                                       [&](double other) { return other >= highest[0]; });
    const auto size = static_cast<double>(all.size());
    test.scale = scales[best];
    test.count = all[0][first + best];
    test.expected = (mean_at_best * size - static_cast<double>(test.count)) / (size - 1);
    test.z = highest[0];
    test.p = static_cast<double>(reached + 1) / size;
}

void correct(std::vector<replay_test>& tests, double replay_test::*p, double replay_test::*q) {
    std::vector<double> all;
    all.reserve(tests.size());
    for (const replay_test& one : tests) all.push_back(one.*p);
    const auto corrected = adjust_p_values(all, all.size(), correction_method::benjamini_hochberg);
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i].*q = corrected[i];
}

}  // namespace

replay_scores test_replay(const spike_sequence& spikes, std::span<const episode> chains,
                          std::span<const time_span> events, const replay_options& options,
                          const execution& run) {
    check_replay(spikes, chains, events, options);
    const std::vector<double> scales = options.scales.values();
    const counts_of_shuffles counts = count_all(spikes, chains, events, options, run);
    const assess::event_times times = assess::draw_spikes(spikes, events, options.surrogates.seed);
    replay_scores out;
    for (std::size_t c = 0; c < chains.size(); ++c) {
        std::array<replay_test, 2> both{{{.chain = c, .direction = replay_direction::forward},
                                         {.chain = c, .direction = replay_direction::reverse}}};
        for (std::size_t d = 0; d < both.size(); ++d)
            test_counts(counts, (2 * c + d) * scales.size(), scales, both[d]);
        for (replay_event& one :
             assess::score_order(chains[c], times, options.alpha, both[0], both[1])) {
            one.chain = c;
            out.events.push_back(one);
        }
        out.tests.insert(out.tests.end(), both.begin(), both.end());
    }
    std::ranges::stable_sort(out.events, {}, &replay_event::event);
    correct(out.tests, &replay_test::p, &replay_test::q);
    correct(out.tests, &replay_test::events_p, &replay_test::events_q);
    return out;
}

}  // namespace spikeweave
