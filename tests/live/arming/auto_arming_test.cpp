// Episodes that are armed while a session runs.

#include "live/arming/auto_arming.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "live/arming/planted_chains.hpp"
#include "live/session/session.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

const episode whole_chain{
    {unit_id{0}, unit_id{1}, unit_id{2}},
    {{duration{4 * ms}, duration{6 * ms}}, {duration{4 * ms}, duration{6 * ms}}}};

// Ten units of 10 Hz for 200 s, and a chain of 2 Hz in the 60th to 140th of them.
std::vector<spike_event> chain_in_the_middle() {
    std::mt19937_64 random(17);
    std::vector<spike_event> spikes = spikes_of_independent_units(random, 10, 10, 200 * second);
    plant(spikes, random, 2, 60 * second, 140 * second);
    return spikes;
}

void analyse(const std::vector<spike_event>& spikes, const session_options& options,
             arming_results& results, int threads = 1) {
    session through(named_units_of(10), options, results);
    constexpr std::size_t at_once = 1000;
    for (std::size_t at = 0; at < spikes.size(); at += at_once) {
        const auto begin = spikes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::min(at_once, spikes.size() - at);
        through.take({.spikes = {begin, begin + static_cast<std::ptrdiff_t>(count)}},
                     {.threads = threads});
    }
    through.finish({.threads = threads});
}

// When the whole chain was armed and disarmed.
struct armed_span {
    std::size_t number = 0;
    std::optional<std::int64_t> from{}, to{};
};
armed_span span_of(const episode& what, const arming_results& results) {
    armed_span span;
    for (const arming_change& change : results.changes) {
        for (const newly_armed& one : change.armed)
            if (one.what == what) {
                EXPECT_FALSE(span.from) << "it was armed twice";
                span.number = one.armed;
                span.from = change.from.time_us;
            }
        for (const std::size_t number : change.disarmed)
            if (span.from && number == span.number) span.to = change.from.time_us;
    }
    return span;
}

std::vector<std::vector<std::int64_t>> occurrences_in(const std::vector<spike_event>& spikes,
                                                      const episode& what, std::int64_t begin,
                                                      std::int64_t end) {
    std::vector<std::pair<std::int64_t, unit_id>> part;
    for (const auto& [time, unit] : spikes)
        if (time >= begin && time < end) part.emplace_back(time, unit);
    return find_occurrences(
        sequence_of(part, named_units_of(10), {duration{begin}, duration{end - 1}}), what);
}

// Three windows, from 60 to 90 s, have the chain, and two of four, from 120 to 160 s, have it no
// longer. A hop later that takes effect.
TEST(AutoArming, DetectsAChainFromThreeWindowsOnUntilItIsGone) {
    const std::vector<spike_event> spikes = chain_in_the_middle();
    for (const auto& [hop, from, to] :
         {std::array<std::int64_t, 3>{10, 100, 170}, std::array<std::int64_t, 3>{2, 92, 162}}) {
        for (const int threads : {1, 2}) {
            arming_results results;
            analyse(spikes, arming_analysis(duration{10 * second}, duration{hop * second}), results,
                    threads);

            const armed_span span = span_of(whole_chain, results);
            ASSERT_EQ(span.from, from * second);
            ASSERT_EQ(span.to, to * second);
            std::vector<std::vector<std::int64_t>> detected;
            for (const armed_occurrence& one : results.detections)
                if (one.armed == span.number) detected.push_back(one.times);
            EXPECT_EQ(detected, occurrences_in(spikes, whole_chain, *span.from, *span.to));
            EXPECT_GT(detected.size(), 70U);
            ASSERT_TRUE(results.at_end.arming);
            EXPECT_EQ(*results.at_end.arming,
                      (arming_counts{.armed = 3, .disarmed = 3, .refused = 0}))
                << "the chain and its two steps";
            const armed_tally& tally = results.tallies.at(span.number);
            EXPECT_EQ(tally.detected, detected.size());
            EXPECT_NEAR(tally.expected, tally.expected_per_minute * 70 / 60, 1e-9);
        }
    }
}

// Each of 116 windows has a significant episode by chance in at most 1 % of cases for each of two
// sizes, so at most 113 * 4 * 0.02^3 = 0.004 episodes are expected to be armed, even if it were
// always the same one.
TEST(AutoArming, ArmsNothingOfIndependentUnits) {
    std::mt19937_64 random(3);
    const std::vector<spike_event> spikes =
        spikes_of_independent_units(random, 10, 20, 1'170 * second);

    arming_results results;
    analyse(spikes, arming_analysis(duration{10 * second}, {}), results);

    EXPECT_EQ(results.changes.size(), 115U) << "decisions that took effect";
    EXPECT_EQ(*results.at_end.arming, arming_counts{});
    EXPECT_TRUE(results.detections.empty());
}

TEST(AutoArming, LeavesWhatIsGiven) {
    const std::vector<spike_event> spikes = chain_in_the_middle();
    session_options options = arming_analysis(duration{10 * second}, {});
    options.armed = {{whole_chain}};
    options.patterns = {duration{5 * ms}, {{{unit_id{0}, 0}, {unit_id{1}, 1}}}};

    arming_results results;
    analyse(spikes, options, results);

    EXPECT_FALSE(span_of(whole_chain, results).from) << "it is armed already";
    const episode step{{unit_id{0}, unit_id{1}}, {whole_chain.delays.front()}};
    EXPECT_EQ(span_of(step, results).number, 2U) << "numbers follow those of what is given";
    std::vector<std::vector<std::int64_t>> given;
    for (const armed_occurrence& one : results.detections)
        if (one.armed == 0) given.push_back(one.times);
    EXPECT_EQ(given, occurrences_in(spikes, whole_chain, 0, 200 * second));
    EXPECT_EQ(results.tallies.size(), 4U);
}

TEST(AutoArming, RefusesWhatIsExpectedTooOften) {
    session_options options =
        arming_analysis(duration{10 * second}, {}, {}, event_rate{10, std::chrono::minutes{1}});
    options.triggers.max_false_alarms = options.arming->max_false_alarms;

    arming_results results;
    analyse(chain_in_the_middle(), options, results);

    std::size_t refused = 0, armed = 0;
    for (const arming_change& change : results.changes) {
        for (const refused_episode& one : change.refused) {
            EXPECT_EQ(one.what.size(), 2U);
            EXPECT_TRUE(one.by_chance);
            EXPECT_GT(one.per_minute, 10);
            ++refused;
        }
        for (const newly_armed& one : change.armed) {
            EXPECT_EQ(one.what, whole_chain);
            EXPECT_LE(one.per_minute, 10);
            ++armed;
        }
    }
    EXPECT_EQ(refused, 2U) << "each is told once";
    EXPECT_EQ(armed, 1U);
    EXPECT_EQ(results.at_end.arming->refused, 2U);
    for (const suppression one : results.suppressed)
        EXPECT_EQ(one, suppression::none) << "it was checked before";
}

TEST(AutoArming, ArmsTheLongestIfThereAreTooMany) {
    session_options options = arming_analysis(duration{10 * second}, {}, {.max_armed = 2});
    options.armed = {{{{unit_id{5}, unit_id{6}}, {{duration{0}, duration{5 * ms}}}}}};

    arming_results results;
    analyse(chain_in_the_middle(), options, results);

    EXPECT_EQ(span_of(whole_chain, results).from, 100 * second);
    EXPECT_EQ(*results.at_end.arming, (arming_counts{.armed = 1, .disarmed = 1, .refused = 2}));
}

// Units of a stream are numbered as they appear, but episodes by the names of their units.
TEST(AutoArming, NumbersTheLongestFirstThenByName) {
    arming_results results;
    session through({"n2", "n0", "n1"}, arming_analysis(duration{10 * second}, {}), results);
    source_block block{.spikes = chain_in_the_middle()};
    std::erase_if(block.spikes, [](const spike_event& one) { return to_index(one.unit) > 2; });
    for (spike_event& one : block.spikes)
        one.unit = unit_id{static_cast<std::uint32_t>(to_index(one.unit) + 1) % 3};
    put_in_order(block.spikes);
    through.take(block, {.threads = 1});
    through.finish();

    std::vector<std::vector<unit_id>> armed;
    for (const arming_change& change : results.changes)
        for (const newly_armed& one : change.armed) armed.push_back(one.what.units);
    const unit_id n0{1}, n1{2}, n2{0};
    EXPECT_EQ(armed, (std::vector<std::vector<unit_id>>{{n0, n1, n2}, {n0, n1}, {n1, n2}}));
}

// A decision that is not there in time counts for the spikes that are left.
TEST(AutoArming, TakesEffectLateIfADecisionComesLate) {
    struct slow_results : arming_results {
        std::atomic<bool> may_go_on{false};
        void take(const event& what) override {
            what.visit(handlers{[&](const mined_window& window) {
                if (window.mined.bounds.number == 8) may_go_on.wait(false);
            }});
            arming_results::take(what);
        }
    } results;
    const std::vector<spike_event> spikes = chain_in_the_middle();
    session_options options = arming_analysis(duration{10 * second}, {});
    options.pace = {.beside = true};
    session through(named_units_of(10), options, results);
    auto take_until = [&, at = spikes.begin()](std::int64_t time) mutable {
        const auto end =
            std::ranges::lower_bound(at, spikes.end(), time, {}, &spike_event::time_us);
        through.take({.spikes = {at, end}, .watermark_us = time}, {.threads = 1});
        at = end;
        return (end - 1)->time_us;
    };
    // All windows but the last one have then decided.
    const auto wait_for_windows_until = [&](std::int64_t time) {
        while (static_cast<std::int64_t>(through.counts().windows) < time / (10 * second))
            through.take({.watermark_us = time}, {.threads = 1});
    };

    take_until(50 * second);
    const std::int64_t last = take_until(120 * second);
    results.may_go_on = true;
    results.may_go_on.notify_all();
    wait_for_windows_until(120 * second);
    for (std::int64_t time = 130 * second; time <= 200 * second; time += 10 * second) {
        take_until(time);
        wait_for_windows_until(time);
    }
    through.finish({.threads = 1});

    const armed_span span = span_of(whole_chain, results);
    EXPECT_EQ(span.from, last + 1);
    ASSERT_EQ(span.to, 170 * second);
    EXPECT_EQ(results.at_end.arming->late, 1U);
    std::vector<std::vector<std::int64_t>> detected;
    for (const armed_occurrence& one : results.detections)
        if (one.armed == span.number) detected.push_back(one.times);
    EXPECT_EQ(detected, occurrences_in(spikes, whole_chain, *span.from, *span.to));
}

TEST(AutoArming, NeedsWindowsThatFollowOnEachOther) {
    arming_results results;
    const auto refused = [&](duration length, duration hop) {
        return text_of([&] { session(named_units_of(3), arming_analysis(length, hop), results); });
    };

    EXPECT_EQ(refused(duration{0}, duration{10}),
              "`arm`: growing windows overlap, so they cannot decide what to arm");
    EXPECT_EQ(
        refused(duration{10}, duration{3}),
        "`arm`: `window` has to be a multiple of `hop`, so that windows follow on each other");
    EXPECT_NO_THROW(
        session(named_units_of(3), arming_analysis(duration{10}, duration{11}), results));
}

// Hops below, as long as and above a window, rules of all kinds, and epochs.
TEST(AutoArmingProperty, FollowsTheRule) {
    std::mt19937_64 random(20261124);
    std::size_t armed = 0, disarmed = 0, detections = 0;
    const std::size_t cases = property_cases(150);
    for (std::size_t i = 0; i < cases; ++i) {
        const auto blocks = changing_stream(random, 60 + random() % 100);
        const std::int64_t length = static_cast<std::int64_t>(1 + random() % 3) * 100 * ms;
        const std::int64_t hop =
            std::array<std::int64_t, 4>{0, length / 2, length / 4, length + 30 * ms}[random() % 4];
        const std::uint64_t windows = 1 + random() % 4;
        const session_options options =
            arming_analysis(duration{length}, duration{hop},
                            {.arm_after = 1 + random() % windows, .arm_windows = windows});

        arming_results results;
        session through(named_units_of(4), options, results);
        for (const source_block& block : blocks) through.take(block, {.threads = 1});
        through.finish({.threads = 1});

        const rule_by_words expected(blocks, options);
        std::ranges::sort(results.detections);
        ASSERT_EQ(results.detections, expected.occurrences) << "case " << i;
        ASSERT_EQ(results.at_end.arming->armed, expected.armed);
        ASSERT_EQ(results.at_end.arming->disarmed, expected.disarmed);
        ASSERT_EQ(results.at_end.arming->late, 0U);
        armed += expected.armed;
        disarmed += expected.disarmed;
        detections += expected.occurrences.size();
    }
    EXPECT_GT(armed, cases);
    EXPECT_GT(disarmed, cases / 2);
    EXPECT_GT(detections, 20 * cases);
}

}  // namespace
}  // namespace spikeweave::live
