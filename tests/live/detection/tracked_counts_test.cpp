#include "live/detection/tracked_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "live/session/session.hpp"
#include "support/random_streams.hpp"
#include "support/run_length.hpp"

namespace spikeweave::live {
namespace {

struct given_counts {
    time_span window{};
    std::vector<std::uint64_t> counts{};

    friend bool operator==(const given_counts&, const given_counts&) = default;
};

struct kept_counts : sink {
    std::vector<given_counts> all{};

    void take(const event& what) override {
        what.visit(handlers{[&](const counts_in_window& now) {
            all.push_back({now.window, {now.counts.begin(), now.counts.end()}});
        }});
    }
};

session_options every_four_us() {
    return {
        .armed = {{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}}}, {{{unit_id{1}}, {}}}},
        .tracking = {duration{4}, duration{10}}};
}

TEST(TrackedCounts, AreGivenAtTheMultiplesOfATimeOfTheRecording) {
    kept_counts results;
    session live({"a", "b"}, every_four_us(), results);

    live.take({.spikes = {{-3, unit_id{0}}, {-1, unit_id{1}}, {0, unit_id{1}}}});
    EXPECT_EQ(results.all, (std::vector<given_counts>{{{duration{-10}, duration{0}}, {1, 1}}}));
    live.take({.spikes = {{5, unit_id{0}}}, .watermark_us = 20});
    ASSERT_EQ(results.all.size(), 6U) << "until 20";
    EXPECT_EQ(results.all[1], (given_counts{{duration{-6}, duration{4}}, {1, 2}}));
    EXPECT_EQ(results.all[5], (given_counts{{duration{10}, duration{20}}, {0, 0}}));
    live.take({.begins_epoch = true, .spikes = {{101, unit_id{1}}, {108, unit_id{0}}}});

    ASSERT_EQ(results.all.size(), 8U);
    EXPECT_EQ(results.all[6], (given_counts{{duration{94}, duration{104}}, {0, 1}}));
    EXPECT_EQ(results.all[7], (given_counts{{duration{98}, duration{108}}, {0, 1}}));
}

TEST(TrackedCounts, AreGivenAtBothEndsOfALeapOnly) {
    kept_counts results;
    session live({"a", "b"}, every_four_us(), results);
    constexpr std::int64_t far = 86'400'000'000;
    live.take({.spikes = {{1, unit_id{0}}, {3, unit_id{1}}, {far + 1, unit_id{1}}}});

    ASSERT_LT(results.all.size(), 1'100U);
    EXPECT_EQ(results.all.front(), (given_counts{{duration{-6}, duration{4}}, {1, 1}}));
    EXPECT_EQ(results.all.back(), (given_counts{{duration{far - 10}, duration{far}}, {0, 0}}));
}

// They are those of batch analysis, however the stream is cut, also with units that appear later.
TEST(TrackedCountsProperty, AreThoseOfTheWindowAlone) {
    random_streams draw(20261129);
    std::size_t compared = 0;
    for (std::size_t i = 0; i < property_cases(200); ++i) {
        const spike_sequence spikes = draw.spikes(100, 3);
        if (spikes.unit_count() < 3) continue;
        session_options options;
        std::vector<episode> tracked;
        for (std::size_t n = 0; n < 3; ++n) {
            tracked.push_back(draw.episode(1 + n, 3));
            options.armed.push_back({tracked.back(), n == 2 ? std::size_t{2} : 0});
        }
        options.detector.ties = draw.below(2) == 0 ? tie_rule::time : tie_rule::order;
        options.tracking = {duration{1 + static_cast<std::int64_t>(draw.below(9))},
                            duration{static_cast<std::int64_t>(draw.below(40))}};
        kept_counts results;
        session live(spikes.unit_names(), options, results);
        source_block block;
        for (std::size_t k = 0; k < spikes.size(); ++k) {
            block.spikes.push_back({spikes.times_us()[k], spikes.units()[k]});
            if (draw.below(4) > 0) continue;
            live.take(block);
            block = {};
            if (draw.below(5) == 0) block.new_units = {"new " + std::to_string(k)};
        }
        live.take(block);
        for (const auto& [window, counts] : results.all) {
            std::vector<std::int64_t> times;
            std::vector<unit_id> units;
            for (std::size_t k = 0; k < spikes.size(); ++k) {
                const duration time{spikes.times_us()[k]};
                if (time < window.begin || time >= window.end) continue;
                times.push_back(time.count());
                units.push_back(spikes.units()[k]);
            }
            const spike_sequence alone(times, units, spikes.unit_names(), window);
            ASSERT_EQ(counts,
                      count_episodes(alone, tracked, {.ties = options.detector.ties}).counts)
                << "case " << i << ", window until " << window.end.count();
            ++compared;
        }
    }
    EXPECT_GT(compared, 5 * property_cases(200));
}

}  // namespace
}  // namespace spikeweave::live
