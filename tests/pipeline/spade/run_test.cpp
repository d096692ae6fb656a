#include "spikeweave/pipeline/spade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/spade/small_request.hpp"
#include "spikeweave/assess/spade/reduction.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"
#include "support/error_text.hpp"
#include "support/threads_as_ranks.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

spade_result find(const spade_options& request, const execution& run = {}) {
    return run_spade(prepare(request), request, run);
}

std::vector<std::uint64_t> lefts(const spade_result& found) {
    std::vector<std::uint64_t> out;
    for (const funnel_step& step : found.funnel) out.push_back(step.left);
    return out;
}

std::vector<std::string> steps(const spade_result& found) {
    std::vector<std::string> out;
    for (const funnel_step& step : found.funnel) out.push_back(step.step);
    return out;
}

void expect_same(const spade_result& found, const spade_result& expected) {
    EXPECT_EQ(found.table, expected.table);
    EXPECT_EQ(found.signatures, expected.signatures);
    EXPECT_EQ(found.stabilities, expected.stabilities);
    EXPECT_EQ(steps(found), steps(expected));
    EXPECT_EQ(lefts(found), lefts(expected));
    EXPECT_EQ(found.warnings, expected.warnings);
    ASSERT_EQ(found.assessment.has_value(), expected.assessment.has_value());
    if (!found.assessment) return;
    EXPECT_EQ(found.assessment->spectrum, expected.assessment->spectrum);
    EXPECT_EQ(found.assessment->tests.not_significant, expected.assessment->tests.not_significant);
    const auto q = [](const signature_test& one) { return std::pair(one.what, one.q); };
    EXPECT_TRUE(std::ranges::equal(found.assessment->tests.signatures,
                                   expected.assessment->tests.signatures, {}, q, q));
}

// Runs the stages one by one with their public calls.
struct parts {
    spade_windows windows;
    pattern_mining_options mining;
    pattern_table all;
    std::vector<stability> stabilities{};

    static parts mined(const spike_sequence& spikes, const spade_options& request) {
        const spade_windows windows(bin_spikes(spikes, {.bin = 5ms}).spikes, request.window);
        const pattern_mining_options mining{.rules = {{.min_occ = std::get<1>(request.min_occ)}}};
        return {windows, mining, mine_patterns(windows, mining).table};
    }

    void keep(const std::vector<std::size_t>& kept) {
        pattern_table out{.window_bins = all.window_bins};
        for (const std::size_t i : kept)
            out.append(all.pattern(i), all.counts[i], all.occurrences_of(i));
        all = std::move(out);
    }

    pattern_test_result assess(const spike_sequence& spikes, const spade_options& request,
                               surrogate_options how) const {
        how.surrogates = request.surrogates.surrogates;
        how.seed = request.surrogates.seed;
        how.dither = 15ms;
        const surrogate_maker maker(spikes, how, {.bin = 5ms});
        return test_patterns(count_signatures(all, request.spectrum),
                             [&](std::uint32_t i) { return maker.make(i); }, how.surrogates,
                             request.window, mining, request.spectrum, {.alpha = request.alpha});
    }

    void judge(const spade_options& request) {
        stability_options how = *request.stability;
        how.seed = request.surrogates.seed;
        stabilities = approximate_stability(windows, all, how);
    }

    reduction_result reduce(const pattern_test_result& tested,
                            const reduction_options& options) const {
        std::vector<std::size_t> list(all.size());
        std::iota(list.begin(), list.end(), std::size_t{0});
        std::ranges::stable_sort(list, {}, [&](std::size_t i) { return all.counts[i]; });
        reduction_result out = reduce_patterns(all, list, tested.tests.not_significant, options);
        std::ranges::sort(out.kept);
        return out;
    }
};

TEST(RunSpade, GivesAllThatWereMinedWithoutTests) {
    spade_options request = small_request();
    request.surrogates = spade_options{}.surrogates;
    const parts expected = parts::mined(planted_recording(), request);

    const spade_result found = find(request);

    EXPECT_GT(found.table.size(), 100U);
    EXPECT_EQ(found.table, expected.all);
    EXPECT_EQ(found.signatures, count_signatures(expected.all, spectrum_kind::size_count));
    EXPECT_FALSE(found.assessment);
    EXPECT_EQ(lefts(found).back(), expected.all.size());
}

TEST(RunSpade, GivesWhatItsPartsGiveOneByOne) {
    for (const spectrum_kind kind :
         {spectrum_kind::size_count, spectrum_kind::size_count_duration}) {
        spade_options request = small_request();
        request.spectrum = kind;
        request.reduce = {0, 0, 2};
        request.stability = stability_options{.n_subsets = 50};
        parts expected = parts::mined(planted_recording(), request);
        const std::size_t mined = expected.all.size();
        const pattern_test_result tested = expected.assess(
            planted_recording(), request, {.method = dither_spikes_with_refractory_period});
        expected.keep(filter_patterns(expected.all, kind, tested.tests.not_significant));
        const std::size_t significant = expected.all.size();
        expected.keep(
            expected.reduce(tested, {.spectrum = kind, .l_covered_spikes = 2, .min_occ = 5}).kept);
        expected.judge(request);

        const spade_result found = find(request);

        EXPECT_GT(mined, significant);
        EXPECT_GT(significant, expected.all.size());
        EXPECT_FALSE(found.table.empty());
        EXPECT_EQ(found.table, expected.all);
        EXPECT_EQ(found.stabilities, expected.stabilities);
        EXPECT_EQ(found.assessment->spectrum, tested.spectrum);
        EXPECT_EQ(found.assessment->tests.not_significant, tested.tests.not_significant);
        EXPECT_EQ(steps(found),
                  (std::vector<std::string>{"closed patterns", "window subsets", "max-occ",
                                            "significance", "reduction, subset",
                                            "reduction, superset", "reduction, covered"}));
        const std::vector<std::uint64_t> left = lefts(found);
        EXPECT_EQ(left[2], mined);
        EXPECT_EQ(left[3], significant);
        EXPECT_EQ(left.back(), expected.all.size());
    }
}

TEST(RunSpade, ReducesInTheOrderOfThePublishedCode) {
    spade_options request = small_request();
    request.surrogates = spade_options{}.surrogates;
    request.reduce = {0, 0, 2};
    parts expected = parts::mined(planted_recording(), request);
    expected.keep(expected.reduce({}, {.l_covered_spikes = 2, .min_occ = 5}).kept);

    EXPECT_EQ(find(request).table, expected.all);
}

TEST(RunSpade, TestsOnlyWhatIsStableWhereThatIsAskedFor) {
    spade_options request = small_request();
    request.stability = stability_options{.n_subsets = 50};
    request.stability_threshold = {0.5, 0.9};
    parts expected = parts::mined(planted_recording(), request);
    const std::size_t mined = expected.all.size();
    expected.judge(request);
    expected.keep(filter_stable(expected.stabilities, request.stability_threshold));
    const std::size_t stable = expected.all.size();
    const pattern_test_result tested = expected.assess(
        planted_recording(), request, {.method = dither_spikes_with_refractory_period});
    expected.keep(filter_patterns(expected.all, request.spectrum, tested.tests.not_significant));

    const spade_result found = find(request);

    EXPECT_LT(stable, mined);
    EXPECT_FALSE(found.table.empty());
    EXPECT_EQ(found.table, expected.all);
    EXPECT_EQ(found.stabilities.size(), found.table.size());
    EXPECT_EQ(steps(found)[3], "stability");
    EXPECT_EQ(lefts(found)[3], stable);
}

TEST(RunSpade, AnswersTheSameForAnyNumberOfThreadsAndRanks) {
    spade_options request = small_request();
    request.reduce = {0, 0, 2};
    request.stability = stability_options{.n_subsets = 50};
    for (const bool stable_only : {false, true}) {
        request.stability_threshold = stable_only ? stability{0.5, 0.9} : stability{};
        const spade_input prepared = prepare(request);
        request.run.threads = 1;
        const spade_result expected = run_spade(prepared, request);
        EXPECT_FALSE(expected.table.empty());

        request.run.threads = 3;
        expect_same(run_spade(prepared, request), expected);
        request.run.threads = 1;
        for (const int ranks : {1, 2, 3}) {
            spade_result first;
            threads_as_ranks::run(ranks, [&](int rank, std::shared_ptr<communicator> all) {
                spade_result found = run_spade(prepared, request, {.ranks = std::move(all)});
                if (rank == 0) first = std::move(found);
            });
            expect_same(first, expected);
        }
    }
}

TEST(RunSpade, SaysThatSurrogatesAreTooFew) {
    spade_options request = small_request();
    request.correction = correction_method::bonferroni;

    const spade_result found = find(request);

    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_NE(found.warnings[0].find("39 surrogates are too few"), std::string::npos);
}

TEST(RunSpade, SaysThatManyPatternsMayBeFragments) {
    const spike_sequence spikes = simulate_patterns({.units = 330,
                                                     .length = 12s,
                                                     .patterns = std::vector<std::uint32_t>(110, 3),
                                                     .occurrences = 25,
                                                     .rate_hz = 1,
                                                     .seed = 1})
                                      .spikes;
    spade_options request = small_request();
    request.min_occ = 15U;
    const auto warned = [&] {
        const spade_result found = run_spade(prepare(request, spikes), request);
        return std::ranges::any_of(found.warnings, [](const std::string& one) {
            return one.find("`reduce=2,2,2` leaves out") != std::string::npos;
        });
    };

    EXPECT_TRUE(warned());
    request.reduce = {2, 2, 2};
    EXPECT_FALSE(warned());
    request.reduce.reset();
    request.min_occ = 26U;
    EXPECT_FALSE(warned());
}

TEST(RunSpade, SaysThatNothingCouldBeSignificant) {
    spade_options request = small_request();
    request.min_occ = 4U;
    request.surrogates.surrogates = 30;
    request.alpha = 0.05;
    const spike_sequence noise =
        simulate_patterns({.units = 8, .length = 12s, .patterns = {2}, .occurrences = 1, .seed = 3})
            .spikes;
    const auto tested = [&] {
        spade_result found = run_spade(noise, request);
        // The other warning does not fit if no signature has the smallest p.
        for (const signature_test& one : found.assessment->tests.signatures) {
            EXPECT_GT(one.reached, 0U);
        }
        return found;
    };
    constexpr auto text = "with 30 surrogates no single one of the ";
    for (const auto correction :
         {correction_method::bonferroni, correction_method::benjamini_yekutieli}) {
        request.correction = correction;
        EXPECT_NE(tested().warnings.back().find(text), std::string::npos);
    }
    request.correction = correction_method::none;
    EXPECT_EQ(tested().warnings.back().find(text), std::string::npos);
}

TEST(RunSpade, SaysWhatElephantKeepsWithoutATest) {
    spade_options request = small_request();
    request.compat = compatibility::elephant;
    const spade_result found = find(request);
    const auto& signatures = found.assessment->tests.signatures;
    ASSERT_GT(std::ranges::count(signatures, test_reason::absent, &signature_test::reason), 0);

    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_NE(found.warnings[0].find("are kept without a test, as in Elephant, because none of 39"),
              std::string::npos);
    EXPECT_NE(found.warnings[0].find("dither-spikes give false patterns"), std::string::npos);
    request.method = dither_spikes_with_refractory_period;
    EXPECT_EQ(find(request).warnings.at(0).find("false patterns"), std::string::npos);
}

TEST(RunSpade, RefusesWindowsOfAnotherRequest) {
    const spade_input prepared = prepare(small_request());
    spade_options other = small_request();
    other.window = 9;
    EXPECT_THROW(run_spade(prepared, other), invalid_argument);
    other = small_request();
    other.surrogates.surrogates = 40;
    EXPECT_THROW(run_spade(prepared, other), invalid_argument);
}

TEST(RunSpade, StopsOnRequest) {
    const spade_options request = small_request();
    const spade_input prepared = prepare(request);
    std::stop_source source;
    source.request_stop();

    EXPECT_THROW(run_spade(prepared, request, {.stop = source.get_token()}), cancelled);
}

TEST(SpadePipeline, JoinsEpochsWhichAreTrials) {
    spade_options request = small_request();
    request.epochs = {{1s, 4s}, {5s, 6s}, {8s, 11s}};
    const concatenated_epochs joined =
        concatenate_epochs(planted_recording(), request.epochs, 100ms);
    parts expected = parts::mined(joined.spikes, request);
    const pattern_test_result tested =
        expected.assess(joined.spikes, request, {.method = trial_shifting, .trials = joined.spans});
    expected.keep(filter_patterns(expected.all, request.spectrum, tested.tests.not_significant));

    const spade_input prepared = prepare(request);
    const spade_result found = run_spade(prepared, request);

    EXPECT_FALSE(found.table.empty());
    EXPECT_EQ(found.table, expected.all);
    EXPECT_EQ(found.assessment->spectrum, tested.spectrum);
    EXPECT_EQ(prepared.surrogates.trials, joined.spans);
    EXPECT_EQ(prepared.spikes, joined.spikes);
    EXPECT_EQ(prepared.time_origin_note, "0 ms (the first epoch)");
    // The second epoch begins at 3.1 s of the joined epochs.
    EXPECT_EQ(prepared.axes.time_of(3100ms / 5ms), 5s);
    EXPECT_NE(prepared.warnings.at(0).find("spikes are in no epoch"), std::string::npos);

    request.separation = 49ms;
    EXPECT_NE(prepare(request).warnings.at(0).find("reach from one into the next"),
              std::string::npos);
}

// The options of the result repeat the analysis.
TEST(RunSpade, ResolvesItsOptions) {
    spade_options request = small_request();
    request.reduce = {0, 0, 2};
    const spade_result found = run_spade(planted_recording(), request);
    const spade_options& options = found.options;

    EXPECT_EQ(options.rules, (std::vector<pattern_rule>{{5, 2, 0, 1}}));
    EXPECT_EQ(options.method, dither_spikes_with_refractory_period);
    EXPECT_EQ(options.surrogates.refractory_period, 5ms);
    EXPECT_EQ(options.strategy, found.ran_on);
    EXPECT_GT(found.counts.windows, 0U);
    EXPECT_EQ(found.axes.unit_names, planted_recording().unit_names());
    expect_same(run_spade(planted_recording(), options), found);
}

}  // namespace
}  // namespace spikeweave
