#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "assess/surrogates/surrogate_samples.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/bin_grid.hpp"

namespace spikeweave {

using namespace surrogate_samples;

namespace {

using namespace std::chrono_literals;
using enum surrogate_method;

TEST(TrialShifting, TurnsEachTrialByItselfAndDropsWhatIsOutside) {
    const spike_sequence spikes = units_with_dead_times();
    surrogate_options options{.method = trial_shifting, .dither = 30ms, .seed = 1};
    options.trials = regular_trials(spikes.span(), 500ms, 200ms);
    const surrogate_spikes made = surrogate_maker(spikes, options).make_sequence(0);
    std::size_t outside = 0;
    std::set<std::int64_t> shifts;
    for (std::uint32_t u = 0; u < 3; ++u) {
        const times_us from = times_of(spikes, u);
        const times_us to = times_of(made.spikes, u);
        outside += from.size();
        for (const time_span& trial : options.trials) {
            const auto within = [&](const times_us& all) {
                times_us out;
                for (const std::int64_t t : all)
                    if (duration{t} >= trial.begin && duration{t} < trial.end)
                        out.push_back(t - trial.begin.count());
                return out;
            };
            const times_us before = within(from);
            const times_us after = within(to);
            outside -= before.size();
            ASSERT_EQ(before.size(), after.size());
            if (before.size() < 3 || trial.end > spikes.span().end) continue;
            // A single shift must explain all of them.
            int explained = 0;
            for (const std::int64_t landed : after) {
                const std::int64_t shift = (landed - before[0] + 500'000) % 500'000;
                times_us turned;
                for (const std::int64_t t : before) turned.push_back((t + shift) % 500'000);
                if (sorted(turned) != after) continue;
                ++explained;
                const std::int64_t small = shift > 250'000 ? shift - 500'000 : shift;
                EXPECT_LE(std::abs(small), 30'000);
                shifts.insert(small);
            }
            EXPECT_EQ(explained, 1);
        }
    }
    EXPECT_EQ(made.dropped, outside);
    EXPECT_EQ(made.merged, 0U);
    EXPECT_GT(shifts.size(), 60U);  // one shift per unit and trial
}

TEST(TrialShifting, ShiftsUniformly) {
    surrogate_options options{.method = trial_shifting, .dither = 15ms};
    options.trials = regular_trials({-3s, 9'997s}, 100ms, 0ms);
    EXPECT_LT(distance_from_uniform(displacements(options, 100'000), -15'000, 15'000),
              at_p_of_one_in_a_thousand);
}

TEST(TrialShifting, RefusesTrialsThatCannotBe) {
    const spike_sequence spikes = units_with_dead_times();
    const auto with = [&](std::vector<time_span> trials) {
        surrogate_maker(spikes, {.method = trial_shifting, .trials = std::move(trials)});
    };
    EXPECT_THROW(with({}), invalid_argument);
    EXPECT_THROW(with({{1s, 1s}}), invalid_argument);
    EXPECT_THROW(with({{1s, 2s}, {1'999ms, 3s}}), invalid_argument);
    EXPECT_THROW(with({{2s, 3s}, {0s, 1s}}), invalid_argument);
    EXPECT_NO_THROW(with({{0s, 1s}, {1s, 2s}}));
}

TEST(RegularTrials, AreAllThereUnlessElephantsAreAsked) {
    const time_span span{100ms, 22'420ms};  // the length of the published benchmark
    const auto all = regular_trials(span, 500ms, 200ms);
    const auto elephant = regular_trials(span, 500ms, 200ms, compatibility::elephant);

    ASSERT_EQ(all.size(), 32U);
    EXPECT_EQ(all.front(), (time_span{100ms, 600ms}));
    EXPECT_EQ(all.back(), (time_span{21'800ms, 22'300ms}));
    EXPECT_EQ(elephant, std::vector(all.begin(), all.end() - 1));
    EXPECT_EQ(regular_trials({0s, 1'400ms}, 500ms, 200ms).size(), 2U);
    EXPECT_EQ(regular_trials({0s, 1'401ms}, 500ms, 200ms).size(), 3U);
    EXPECT_TRUE(regular_trials({0s, 0s}, 500ms, 200ms).empty());
    EXPECT_THROW(regular_trials(span, 0ms, 200ms), invalid_argument);
    EXPECT_THROW(regular_trials(span, 1ms, -1ms), invalid_argument);
}

TEST(NoteOfCutTrial, SaysWhatIsAtTheEnd) {
    const time_span span{100ms, 1'500ms};  // two trials of 500 ms, each with a gap of 200 ms
    EXPECT_EQ(note_of_cut_trial(span, 500ms, 200ms), "");
    EXPECT_EQ(note_of_cut_trial(span, 500ms, 200ms, compatibility::elephant), "");
    // The gap at the end need not be there.
    EXPECT_EQ(note_of_cut_trial({100ms, 1'300ms}, 500ms, 200ms), "");
    EXPECT_EQ(note_of_cut_trial({100ms, 1'299ms}, 500ms, 200ms),
              "The last of 2 trials is 499 ms long instead of 500 ms, because the time that is "
              "analysed ends at 1.299 s: it is used as it is.");
    EXPECT_EQ(note_of_cut_trial({100ms, 1'300ms}, 500ms, 200ms, compatibility::elephant),
              "The last 500 ms of the analysed time contain no whole trial with its separation: as "
              "in Elephant, they are in no trial.");
    EXPECT_EQ(note_of_cut_trial({0s, 400ms}, 1s, 0s),
              "The only trial is 400 ms long instead of 1 s, because the time that is analysed "
              "ends at 400 ms: it is used as it is.");
    EXPECT_THROW(note_of_cut_trial(span, 0ms, 200ms), invalid_argument);
}

std::vector<std::uint32_t> bins_of(const binned_spikes& spikes) {
    const auto bins = spikes.bins(unit_id{0});
    return {bins.begin(), bins.end()};
}

TEST(BinShuffling, KeepsTheNumberOfEachBlock) {
    const spike_sequence spikes = units_with_dead_times();
    const binning_options bins{.bin = 4ms};
    const surrogate_options options{.method = bin_shuffling, .dither = 15ms};  // blocks of 6 bins
    const binned_spikes before = bin_spikes(spikes, bins).spikes;
    const binned_spikes after = make_binned_surrogate(spikes, bins, options, 0);
    for (std::uint32_t u = 0; u < 3; ++u) {
        const auto blocks = [&](const binned_spikes& of) {
            std::map<std::uint32_t, int> out;
            for (const std::uint32_t bin : of.bins(unit_id{u})) ++out[bin / 6];
            return out;
        };
        EXPECT_EQ(blocks(before), blocks(after));
        EXPECT_FALSE(std::ranges::equal(before.bins(unit_id{u}), after.bins(unit_id{u})));
    }
}

TEST(BinShuffling, MakesEveryOrderOfABlockEquallyLikely) {
    // Bins 0, 1 of a block of four, and bin 4 of a last block of two.
    const surrogate_maker maker(one_unit({0, 1'000, 1'500, 4'000}, {0ms, 6ms}),
                                {.method = bin_shuffling, .dither = 2ms}, {.bin = 1ms});
    std::map<std::vector<std::uint32_t>, int> seen;
    for (std::uint32_t s = 0; s < 12'000; ++s) ++seen[bins_of(maker.make(s))];
    EXPECT_EQ(seen.size(), 12U);
    for (const auto& [bins, count] : seen) EXPECT_NEAR(count, 1'000, 130);
}

// The reference permutes block after block, as the definition says.
TEST(BinShuffling, SlidesLikeBlocksPermutedOneAfterAnother) {
    const spike_sequence spikes = one_unit({0, 1'000, 5'000, 6'000}, {0us, 6'999us});
    const surrogate_options options{.method = bin_shuffling, .dither = 2ms, .sliding = true};
    const surrogate_maker maker(spikes, options, {.bin = 1ms});
    constexpr int cases = 20'000;
    std::map<std::vector<std::uint32_t>, int> ours;
    std::map<std::vector<std::uint32_t>, int> theirs;
    for (std::uint32_t s = 0; s < cases; ++s) {
        ++ours[bins_of(maker.make(s))];
        random_stream random(1, random_purpose::poisson_spikes, s);
        std::array<bool, 7> fired{true, true, false, false, false, true, true};
        for (std::size_t w = 0; w < 3; ++w)
            for (std::size_t left = 4; left > 1; --left)
                std::swap(fired[w + left - 1], fired[w + random.below(left)]);
        std::vector<std::uint32_t> bins;
        for (std::uint32_t b = 0; b < 7; ++b)
            if (fired[b]) bins.push_back(b);
        ++theirs[bins];
    }
    ASSERT_EQ(ours.size(), theirs.size());
    for (const auto& [bins, count] : theirs)
        EXPECT_NEAR(ours[bins], count, 5 * std::sqrt(2.0 * count) + 5);
}

TEST(BinShuffling, NeedsADitherOfABin) {
    const spike_sequence spikes = units_with_dead_times();
    const surrogate_options options{.method = bin_shuffling, .dither = 4ms};
    EXPECT_THROW(surrogate_maker(spikes, options, {.bin = 5ms}), invalid_argument);
    EXPECT_NO_THROW(surrogate_maker(spikes, options, {.bin = 4ms}));
}

}  // namespace
}  // namespace spikeweave
