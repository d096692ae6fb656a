// Prints how often `compare_episodes`, or `compare_patterns`, finds a change where there is none,
// and how often one that was planted; docs/algorithms/compare.md has the tables.
//
//   compare_power COMPARISONS|FROM:TO THREADS
//                   [NULL|all [LENGTH_S [episodes|patterns [ROWS|FROM:TO]]]]
//
// Each comparison is of two halves of a recording of a null of `null_recordings`, LENGTH_S long
// each, both with five connections (`with_connections`), whose strength may differ. In the rows
// with other rates, two thirds of the spikes of a are kept before the connections are added. The
// findings are searched together, or in either; or they are the planted pairs, as patterns in bins
// of 5 ms. All defaults are used, except a largest size of 2 and 999 labellings. In the null
// own-bursts-denser, a has denser bursts than b. FROM:TO are the seeds, or the rows of 0:11,
// without TO.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "episodes/null_recordings.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/compare/episodes.hpp"
#include "spikeweave/pipeline/compare/spade.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace {

using namespace spikeweave;
using null_recordings::planted_pairs;
using null_recordings::seed_range;
using null_recordings::seeds_of;

constexpr std::array<std::string_view, 5> usual_nulls{"poisson", "slow", "own-bursts", "gamma",
                                                      "own-bursts-denser"};

struct row {
    double strength_a;
    double strength_b;
    double kept_of_a;
    findings_source findings;
};
constexpr std::array<row, 11> rows{{{0.03, 0.03, 1, findings_source::together},
                                    {0.03, 0.03, 1, findings_source::either},
                                    {0.04, 0.04, 1, findings_source::together},
                                    {0.04, 0.04, 1, findings_source::either},
                                    {0.08, 0.08, 1, findings_source::together},
                                    {0.08, 0.08, 1, findings_source::either},
                                    {0.08, 0.08, 2.0 / 3, findings_source::together},
                                    {0.05, 0.08, 1, findings_source::together},
                                    {0.05, 0.10, 1, findings_source::together},
                                    {0.05, 0.15, 1, findings_source::together},
                                    {0.00, 0.10, 1, findings_source::together}}};

// The findings about the planted pairs.
struct tally {
    std::size_t found = 0;
    std::array<std::size_t, 2> below{};        ///< p below 0.05: rate, excess
    std::array<std::size_t, 2> significant{};  ///< q below 0.05
    std::size_t covered = 0;                   ///< the interval of the difference of excess holds 0
    std::array<bool, 2> any{};

    void add(const tally& other) {
        found += other.found;
        covered += other.covered;
        for (const std::size_t t : {0U, 1U}) {
            below[t] += other.below[t];
            significant[t] += other.significant[t];
        }
    }
};

// Two recordings to compare.
std::array<spike_sequence, 2> recordings_of(std::string_view name, std::int64_t length_s,
                                            const row& how, std::uint32_t seed) {
    using namespace null_recordings;
    const duration half = std::chrono::seconds{length_s};
    const spike_sequence null = make(name, 2 * length_s, seed);
    spike_sequence null_a = within_span(null, {duration{0}, half - duration{1}});
    if (how.kept_of_a < 1) null_a = thinned(null_a, how.kept_of_a, seed);
    return {with_connections(null_a, how.strength_a, 2 * seed),
            with_connections(within_span(null, {half, 2 * half - duration{1}}), how.strength_b,
                             2 * seed + 1)};
}

void count(tally& out, const condition_change& one) {
    ++out.found;
    out.below[0] += one.rate.p < 0.05 ? 1 : 0;
    out.below[1] += one.excess.p < 0.05 ? 1 : 0;
    out.significant[0] += one.rate_q < 0.05 ? 1 : 0;
    out.significant[1] += one.excess_q < 0.05 ? 1 : 0;
    out.covered += one.excess.difference.low <= 0 && one.excess.difference.high >= 0 ? 1 : 0;
    for (const std::size_t t : {0U, 1U}) out.any[t] = out.significant[t] > 0;
}

tally compare_planted_patterns(const std::array<spike_sequence, 2>& both, std::uint32_t seed) {
    named_patterns planted{.bin = std::chrono::milliseconds{5}};
    for (std::uint32_t pair = 0; pair < planted_pairs; ++pair)
        planted.patterns.push_back(
            {{both[0].name(unit_id{2 * pair}), 0}, {both[0].name(unit_id{2 * pair + 1}), 1}});
    const pattern_comparison_options options{.permutation = {.permutations = 999, .seed = seed},
                                             .run = {.threads = 1}};
    tally out;
    for (const pattern_change& one :
         compare_patterns({{std::vector{both[0]}, std::vector{both[1]}}}, planted, options)
             .findings)
        count(out, one);
    return out;
}

tally compare_episodes(const std::array<spike_sequence, 2>& both, const row& how,
                       std::uint32_t seed) {
    episode_comparison_options options{.findings = how.findings,
                                       .permutation = {.permutations = 999, .seed = seed},
                                       .mining = {.delays = default_delays(), .max_size = 2},
                                       .run = {.threads = 1, .devices = std::vector<int>{}}};
    tally out;
    for (const episode_change& one :
         compare_episodes({{std::vector{both[0]}, std::vector{both[1]}}}, options).findings) {
        const auto from = to_index(one.what.units[0]);
        if (from % 2 != 0 || from >= 2 * planted_pairs || to_index(one.what.units[1]) != from + 1)
            continue;
        count(out, one);
    }
    return out;
}

struct plan {
    std::int64_t length_s = 120;
    seed_range seeds{};
    seed_range rows{.count = ::rows.size()};
    int threads = 1;
    bool of_patterns = false;
};

void measure(std::string_view name, const plan& what) {
    const std::size_t comparisons = what.seeds.count;
    for (const row& how : std::span{rows}.subspan(what.rows.first, what.rows.count)) {
        if (what.of_patterns && how.findings == findings_source::either) continue;
        std::vector<tally> all(comparisons);
        parallel::parallel_for(
            comparisons, {.threads = what.threads}, "comparing", [&](std::size_t i) {
                const auto seed = static_cast<std::uint32_t>(what.seeds.first + i);
                const auto both = recordings_of(name, what.length_s, how, seed);
                all[i] = what.of_patterns ? compare_planted_patterns(both, seed)
                                          : compare_episodes(both, how, seed);
            });
        tally sum;
        std::array<std::size_t, 2> any{};
        for (const tally& one : all) {
            sum.add(one);
            for (const std::size_t t : {0U, 1U}) any[t] += one.any[t] ? 1 : 0;
        }
        const auto share = [&](std::size_t n) {
            return static_cast<double>(n) /
                   static_cast<double>(std::max<std::size_t>(1, sum.found));
        };
        fmt::print(
            "{}\t{}\t{}\t{}\t{}\t{:.2f}\t{}\t{}\t{:.3f}\t{:.3f}\t{:.3f}\t{:.3f}\t{}\t{}\t{:.3f}\n",
            name, what.length_s, comparisons, how.strength_a, how.strength_b, how.kept_of_a,
            what.of_patterns ? "given" : to_string(how.findings), sum.found, share(sum.below[0]),
            share(sum.below[1]), share(sum.significant[0]), share(sum.significant[1]), any[0],
            any[1], share(sum.covered));
        std::fflush(stdout);
    }
}

plan plan_of(const std::vector<std::string>& arguments) {
    if (arguments.size() < 2 || arguments.size() > 6)
        throw invalid_argument(
            "expected COMPARISONS|FROM:TO THREADS [NULL|all [LENGTH_S [episodes|patterns "
            "[ROWS|FROM:TO]]]]");
    plan out{.seeds = seeds_of(arguments[0]), .threads = std::stoi(arguments[1])};
    if (arguments.size() > 3) out.length_s = std::stol(arguments[3]);
    if (arguments.size() > 4) {
        out.of_patterns = arguments[4] == "patterns";
        if (!out.of_patterns && arguments[4] != "episodes")
            throw invalid_argument("findings are episodes or patterns");
    }
    if (arguments.size() > 5) out.rows = seeds_of(arguments[5]);
    if (out.rows.first + out.rows.count > rows.size())
        throw invalid_argument(fmt::format("there are {} rows", rows.size()));
    return out;
}

int run(const std::vector<std::string>& arguments) {
    const plan what = plan_of(arguments);
    const std::string name = arguments.size() > 2 ? arguments[2] : "all";
    fmt::print(
        "null\tseconds\tcomparisons\tstrength a\tstrength b\tkept of a\tfindings\tplanted found"
        "\trate: p < 0.05\texcess: p < 0.05\trate: q < 0.05\texcess: q < 0.05"
        "\tcomparisons with one: rate\texcess\texcess: interval holds 0\n");
    std::vector<std::string_view> nulls(usual_nulls.begin(), usual_nulls.end());
    if (name != "all") nulls = {name};
    for (const std::string_view null : nulls) measure(null, what);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "compare_power: {}\n", error.what());
        return 2;
    }
}
