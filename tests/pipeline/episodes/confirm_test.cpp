#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

spike_sequence planted_chains(std::uint64_t seed) {
    return simulate_sym26({.length = 30s, .seed = seed}).spikes;
}

// The same spikes as another file may have them: with units in another order, and one more.
spike_sequence renumbered(const spike_sequence& spikes) {
    const auto units = static_cast<std::uint32_t>(spikes.unit_count());
    std::vector<std::string> names{"another"};
    names.insert(names.end(), spikes.unit_names().rbegin(), spikes.unit_names().rend());
    std::vector<std::pair<std::int64_t, unit_id>> rows{{spikes.times_us()[0], unit_id{0}}};
    for (std::size_t i = 0; i < spikes.size(); ++i)
        rows.emplace_back(spikes.times_us()[i],
                          unit_id{units - static_cast<std::uint32_t>(spikes.units()[i])});
    return taken_from(spikes, sequence_of(std::move(rows), std::move(names), spikes.span()));
}

spike_sequence without_unit(const spike_sequence& spikes, const std::string& name) {
    std::vector<std::string> kept = spikes.unit_names();
    std::erase(kept, name);
    return select_units(spikes, kept);
}

std::vector<std::string> names_in(const spike_sequence& spikes, const episode& what) {
    std::vector<std::string> names;
    for (const unit_id unit : what.units) names.push_back(spikes.name(unit));
    return names;
}

void expect_same_tests(const episode_result& a, const episode_result& b) {
    ASSERT_EQ(a.table.episodes.size(), b.table.episodes.size());
    ASSERT_GT(a.table.episodes.size(), 10U);
    for (std::size_t i = 0; i < a.table.episodes.size(); ++i) {
        const auto& [what, count] = a.table.episodes[i];
        EXPECT_EQ(names_in(*a.chosen, what), names_in(*b.chosen, b.table.episodes[i].what));
        EXPECT_EQ(what.delays, b.table.episodes[i].what.delays);
        EXPECT_EQ(count, b.table.episodes[i].count);
        EXPECT_EQ(a.assessed[i].p, b.assessed[i].p);
        EXPECT_EQ(a.assessed[i].q, b.assessed[i].q);
        EXPECT_EQ(a.searched->counts[i], b.searched->counts[i]);
        EXPECT_EQ(a.searched->tests[i].q, b.searched->tests[i].q);
    }
    EXPECT_EQ(a.circuit.edges.size(), b.circuit.edges.size());
    // Chains of one length are in the order of their units.
    EXPECT_TRUE(std::ranges::is_permutation(a.circuit.chains, b.circuit.chains));
    EXPECT_EQ(a.searched->observed, b.searched->observed);
    EXPECT_EQ(a.searched->significant, b.searched->significant);
    EXPECT_EQ(a.searched->replicated, b.searched->replicated);
    EXPECT_EQ(a.options.mining.min_count, b.options.mining.min_count);
}

TEST(Confirm, TestsASecondFileAsAHoldOutTestsTheSecondHalf) {
    for (const std::uint64_t seed : {1U, 2U, 3U})
        for (const significance_test test : {significance_test::jitter, significance_test::exact}) {
            const spike_sequence spikes = planted_chains(seed);
            const duration half = 10s + 3s * seed;
            const std::vector<time_span> parts{{0s, half}, {half, spikes.span().end + 1us}};
            const spike_sequence in_epochs = within_epochs(spikes, parts);
            const episode_options options{.significance = {.test = test}};

            episode_options held_out = options;
            held_out.hold_out = 0.5;
            const episode_result halves = find_episodes(in_epochs, held_out);
            const episode_result confirmed =
                confirm_episodes(within_epochs(spikes, {&parts[0], 1}),
                                 renumbered(within_epochs(spikes, {&parts[1], 1})), options);

            expect_same_tests(halves, confirmed);
            EXPECT_FALSE(halves.searched->confirmed_elsewhere);
            EXPECT_TRUE(confirmed.searched->confirmed_elsewhere);
            EXPECT_TRUE(confirmed.searched->missing_units.empty());
            EXPECT_TRUE(confirmed.searched->untested.empty());
        }
}

TEST(Confirm, TestsWithTheSurrogatesOfTheOtherRecording) {
    const spike_sequence spikes = planted_chains(1);
    const spike_sequence other = planted_chains(2);
    const episode_options options{.mining = {.delays = default_delays(), .max_size = 2},
                                  .surrogates = {.surrogates = 200, .seed = 1}};
    const episode_result found = confirm_episodes(spikes, other, options);

    std::vector<episode> chosen;
    for (const counted_episode& one : found.table.episodes) chosen.push_back(one.what);
    const episode_result again = count_and_test_episodes(other, chosen, options_for_given(options));
    ASSERT_EQ(found.surrogates.size(), chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i)
        EXPECT_EQ(found.surrogates[i].tail_q, again.surrogates[i].tail_q);
    EXPECT_EQ(found.options.surrogates.surrogates, 200U);
    EXPECT_GT(found.searched->replicated, 0U);
}

TEST(Confirm, ListsWhatAMissingUnitLeavesUntested) {
    const spike_sequence spikes = planted_chains(1);
    const spike_sequence other = planted_chains(2);
    const episode_options options{.mining = {.delays = default_delays(), .max_size = 3}};
    const episode_result all = confirm_episodes(spikes, other, options);
    const episode_result found = confirm_episodes(spikes, without_unit(other, "n3"), options);

    EXPECT_EQ(found.searched->missing_units, std::vector<std::string>{"n3"});
    EXPECT_EQ(found.searched->unit_names, spikes.unit_names());
    std::size_t with_n3 = 0;
    std::size_t significant = 0;
    for (std::size_t i = 0; i < all.table.episodes.size(); ++i)
        if (std::ranges::count(names_in(other, all.table.episodes[i].what), "n3") > 0) {
            ++with_n3;
            significant += all.searched->tests[i].q < options.significance.alpha ? 1 : 0;
        }
    ASSERT_GT(with_n3, 3U);
    EXPECT_EQ(found.searched->untested.size(), with_n3);
    EXPECT_EQ(found.table.episodes.size(), all.table.episodes.size() - with_n3);
    EXPECT_EQ(found.searched->significant, all.searched->significant - significant);
    std::size_t size_before = 3;
    for (const auto& [what, test] : found.searched->untested) {
        EXPECT_EQ(std::ranges::count(names_in(spikes, what.what), "n3"), 1);
        EXPECT_LT(test.p, options.significance.alpha);
        EXPECT_LE(what.what.size(), size_before);
        size_before = what.what.size();
    }
    ASSERT_FALSE(found.warnings.empty());
    EXPECT_NE(found.warnings.back().find("1 of 26 units is not in the other recording: n3"),
              std::string::npos);
}

TEST(Confirm, ChoosesTimeOfTheFirstRecordingAndTakesTrialsInBoth) {
    const spike_sequence spikes = planted_chains(1);
    const spike_sequence other = planted_chains(2);
    const episode_result found = confirm_episodes(
        spikes, other,
        {.time = {.t_start = 10s, .t_stop = 25s, .trial_length = 1s, .trial_separation = 500ms}});
    EXPECT_EQ(found.searched->observed, 10s);
    ASSERT_EQ(found.chosen->epochs().size(), 20U);
    EXPECT_EQ(found.chosen->epochs()[1].begin, 1500ms);
    EXPECT_EQ(found.options.time.t_start, 10s);

    const episode_result whole = confirm_episodes(spikes, other, {.time = {.t_stop = 15s}});
    EXPECT_EQ(*whole.chosen, other);
}

TEST(Confirm, RefusesWhatConfirmsNothing) {
    const spike_sequence spikes = planted_chains(1);
    const spike_sequence other = planted_chains(2);
    EXPECT_THROW(confirm_episodes(spikes, spikes), invalid_argument);
    const std::vector<time_span> part{{5s, 12s}};
    EXPECT_THROW(confirm_episodes(spikes, within_epochs(spikes, part)), invalid_argument);
    EXPECT_THROW(confirm_episodes(spikes, without_unit(spikes, "n3")), invalid_argument);
    EXPECT_THROW(confirm_episodes(spikes, {{0}, {unit_id{0}}, {"x"}, {0s, 1s}}), invalid_argument);
    EXPECT_THROW(confirm_episodes(spikes, other, {.hold_out = 0.5}), invalid_argument);
    // Before the search, trials are missed only in the other recording.
    const episode_options shifted{
        .time = {.epochs = {{0s, 10s}, {20s, 30s}}},
        .surrogates = {.surrogates = 100, .method = surrogate_method::trial_shifting}};
    EXPECT_THROW(confirm_episodes(spikes, other, shifted), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
