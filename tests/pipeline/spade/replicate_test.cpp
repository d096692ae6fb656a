#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/assess/spade/support.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

const spike_sequence& four_planted(std::uint64_t seed) {
    static std::map<std::uint64_t, spike_sequence> made;
    spike_sequence& spikes = made[seed];
    if (spikes.empty())
        spikes = simulate_patterns(
                     {.units = 8, .length = 24s, .patterns = {4}, .occurrences = 50, .seed = seed})
                     .spikes;
    return spikes;
}

spade_options tested_request() {
    spade_options request{.window = 10, .min_occ = 8U, .min_spikes = 3, .alpha = 0.05};
    request.surrogates.surrogates = 59;
    request.surrogates.seed = 1;
    request.reduce = {0, 0, 0};
    return request;
}

TEST(Replicate, CountsPatternsAsTheSearchDoes) {
    const binned_spikes binned = bin_spikes(four_planted(1), {}).spikes;
    const pattern_mining_result found = mine_patterns(
        spade_windows(binned, 10), {.rules = {{.min_occ = 6}}, .with_occurrences = false});
    ASSERT_GT(found.table.size(), 100U);
    EXPECT_EQ(count_patterns(binned, found.table), found.table.counts);
}

TEST(Replicate, TestsInOtherEpochsWhatTheFirstSuggest) {
    const spike_sequence& spikes = four_planted(1);
    spade_options request = tested_request();
    request.hold_out = 0.5;
    request.hold_out_block = 2s;
    const spade_result found = run_spade(spikes, request);

    spade_options search = tested_request();
    search.method = search.usual_method();
    spade_options test = search;
    for (std::int64_t i = 0; i < 12; ++i) {
        const time_span block{2s * i, i < 11 ? 2s * (i + 1) : spikes.span().end + 1us};
        (i % 2 == 0 ? search : test).epochs.push_back(block);
    }
    EXPECT_EQ(found.table, run_spade(spikes, search).table);
    ASSERT_GT(found.table.size(), 0U);
    ASSERT_TRUE(found.replication);
    EXPECT_EQ(found.replication->tested, found.table.size());
    EXPECT_GT(found.replication->replicated, 0U);
    const spade_input rest = prepare_spade(bin_recording(spikes, test), test);
    for (std::size_t i = 0; i < found.table.size(); ++i) {
        std::vector<pattern_item> items(found.table.pattern(i).begin(),
                                        found.table.pattern(i).end());
        std::ranges::sort(items);
        std::uint32_t count = 0;
        for (std::size_t w = 0; w < rest.windows.size(); ++w)
            count += std::ranges::includes(rest.windows.items(w), items) ? 1 : 0;
        EXPECT_EQ(found.replication->tests[i]->count, count);
        EXPECT_GE(found.replication->tests[i]->p, 1.0 / 60);
        EXPECT_GE(found.replication->tests[i]->q, found.replication->tests[i]->p);
    }
}

// As for the signatures of the search, a p of alpha is enough: no p of 19 surrogates is below 0.05.
TEST(Replicate, CountsAPOfAlphaAsReplicated) {
    spade_options request = tested_request();
    request.surrogates.surrogates = 19;
    request.correction = correction_method::none;
    request.hold_out = 0.5;
    request.hold_out_block = 2s;

    const spade_result found = run_spade(four_planted(1), request);

    ASSERT_TRUE(found.replication);
    const auto with_p_of_alpha = std::ranges::count_if(
        found.replication->tests, [](const auto& one) { return one && one->p == 0.05; });
    EXPECT_GT(with_p_of_alpha, 0);
    EXPECT_EQ(found.replication->replicated, static_cast<std::size_t>(with_p_of_alpha));
    for (const std::string& warning : found.warnings)
        EXPECT_EQ(warning.find("nothing can be significant"), std::string::npos) << warning;
}

TEST(Replicate, OptionsRepeatWhatHeldOutAPart) {
    for (const bool has_trials : {false, true}) {
        spade_options request = tested_request();
        request.hold_out = 0.5;
        request.hold_out_block = 2s;
        request.t_start = 1s;
        if (has_trials) {
            request.trial_length = 500ms;
            request.trial_separation = 10ms;
        }
        const spade_result found = run_spade(four_planted(1), request);
        EXPECT_EQ(found.options.hold_out, 0.5);
        EXPECT_EQ(found.options.t_start, request.t_start);
        EXPECT_EQ(found.options.trial_length, request.trial_length);
        EXPECT_EQ(found.options.trial_separation, request.trial_separation);
        EXPECT_TRUE(found.options.epochs.empty());
        ASSERT_TRUE(found.replication);
        ASSERT_EQ(found.replication->searched_epochs.size(), has_trials ? 23U : 6U);
        EXPECT_EQ(found.replication->searched_epochs.front().begin, 1s);
        EXPECT_EQ(std::ranges::count_if(found.warnings,
                                        [](const std::string& one) {
                                            return one.starts_with(
                                                "The last of 46 trials is 50 ms "
                                                "long instead of 500 ms");
                                        }),
                  has_trials ? 1 : 0);
        duration searched{0};
        for (const time_span& one : found.replication->searched_epochs) searched += one.length();
        EXPECT_EQ(found.replication->searched, searched);

        const spade_result again = run_spade(four_planted(1), found.options);
        EXPECT_EQ(again.table, found.table);
        ASSERT_TRUE(again.replication);
        EXPECT_EQ(again.replication->searched_epochs, found.replication->searched_epochs);
        ASSERT_GT(found.table.size(), 0U);
        for (std::size_t i = 0; i < found.table.size(); ++i) {
            EXPECT_EQ(again.replication->tests[i]->count, found.replication->tests[i]->count);
            EXPECT_EQ(again.replication->tests[i]->q, found.replication->tests[i]->q);
        }
    }
}

TEST(Replicate, SaysWhenTheLowestThresholdMayHideThePatterns) {
    const auto planted = [](std::uint32_t occurrences) {
        return simulate_patterns({.units = 8,
                                  .length = 24s,
                                  .patterns = {4},
                                  .occurrences = occurrences,
                                  .seed = 1})
            .spikes;
    };
    const spike_sequence rare = planted(10);
    const auto warned = [](const spade_result& found) {
        return std::ranges::any_of(found.warnings, [](const std::string& one) {
            return one.find("needs at least 10 occurrences") != std::string::npos;
        });
    };
    spade_options request = tested_request();
    request.hold_out = 0.5;
    request.hold_out_block = 2s;
    request.min_occ = auto_min_occ{};
    request.min_spikes.reset();
    const spade_result missed = run_spade(rare, request);
    EXPECT_EQ(missed.table.size(), 0U);
    EXPECT_TRUE(warned(missed));

    const spade_result frequent = run_spade(planted(50), request);
    EXPECT_GT(frequent.table.size(), 0U);
    EXPECT_FALSE(warned(frequent));
    EXPECT_FALSE(warned(run_spade(rare, four_planted(2), [&] {
        spade_options elsewhere = request;
        elsewhere.hold_out = 0;
        return elsewhere;
    }())));

    // Chance gives three spikes more than the lowest threshold, so a lower one is no advice.
    const spike_sequence busy =
        simulate_patterns({.units = 8, .length = 24s, .patterns = {}, .rate_hz = 30, .seed = 1})
            .spikes;
    const spade_result chance = run_spade(busy, request);
    EXPECT_EQ(chance.table.size(), 0U);
    EXPECT_FALSE(warned(chance));

    request.min_spikes = 3;
    request.min_occ = 50U;
    const spade_result none = run_spade(rare, request);
    EXPECT_EQ(none.table.size(), 0U);
    EXPECT_FALSE(warned(none));
    request.min_occ = 5U;
    const spade_result lowered = run_spade(rare, request);
    EXPECT_GT(lowered.table.size(), 0U);
    EXPECT_FALSE(warned(lowered));
}

TEST(Replicate, WindowsAreNotDivided) {
    spade_options request = tested_request();
    const spade_input whole = prepare_spade(bin_recording(four_planted(1), request), request);
    request.hold_out = 0.5;
    EXPECT_THROW(run_spade(whole, request), invalid_argument);
    EXPECT_THROW(tally_part(whole, request, {}), invalid_argument);
}

TEST(Replicate, ConfirmsByTheNamesOfUnits) {
    const spike_sequence& spikes = four_planted(1);
    const spike_sequence& other = four_planted(2);
    const spade_result found = run_spade(spikes, other, tested_request());
    ASSERT_GT(found.table.size(), 0U);
    ASSERT_TRUE(found.replication);
    EXPECT_TRUE(found.replication->confirmed_elsewhere);
    EXPECT_EQ(found.replication->replicated, found.table.size());

    // n0 is in the pattern; without it all other units have other numbers.
    const std::vector<std::string> rest(other.unit_names().begin() + 1, other.unit_names().end());
    const spade_result lacking = run_spade(spikes, select_units(other, rest), tested_request());
    EXPECT_EQ(lacking.table, found.table);
    EXPECT_EQ(lacking.replication->missing_units, std::vector<std::string>{"n0"});
    for (std::size_t i = 0; i < found.table.size(); ++i) {
        const bool has_n0 = std::ranges::any_of(found.table.pattern(i), [&](pattern_item item) {
            return found.table.unit(item) == unit_id{0};
        });
        EXPECT_EQ(lacking.replication->tests[i].has_value(), !has_n0);
        if (has_n0) continue;
        EXPECT_EQ(lacking.replication->tests[i]->count, found.replication->tests[i]->count);
    }
    EXPECT_NE(lacking.warnings.back().find("not in the other recording: n0"), std::string::npos);
}

TEST(Replicate, EpochsOfTheSearchAreNoTrialsOfTheOtherRecording) {
    spade_options request = tested_request();
    request.epochs = {{0s, 12s}, {13s, 24s}};
    const spade_result found = run_spade(four_planted(1), four_planted(2), request);
    EXPECT_EQ(found.options.method, surrogate_method::trial_shifting);
    ASSERT_TRUE(found.replication);
    EXPECT_EQ(found.replication->observed, 24s);
}

TEST(Replicate, RefusesWhatTestsNothing) {
    const spike_sequence& spikes = four_planted(1);
    spade_options request = tested_request();
    EXPECT_THROW(run_spade(spikes, spikes, request), invalid_argument);
    try {
        run_spade(spikes, {{0}, {unit_id{0}}, {"x"}, {0s, 1s}}, request);
        FAIL();
    } catch (const invalid_argument& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("the first has n0, n1, n2, n3, n4, n5, n6, n7, the other x"),
                  std::string::npos)
            << text;
    }
    request.hold_out = 0.5;
    EXPECT_THROW(run_spade(spikes, four_planted(2), request), invalid_argument);
    request.hold_out_block = 100s;
    EXPECT_THROW(run_spade(spikes, request), invalid_argument);
    request = tested_request();
    request.surrogates.surrogates = 0;
    request.surrogates.seed = 0;
    EXPECT_THROW(run_spade(spikes, four_planted(2), request), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
