// Sessions of real recordings, whose spikes come out of order: every window is that of batch
// analysis, and so is what is tracked and detected.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "spikeweave/mine/episodes/tracker.hpp"
#include "spikeweave/simulate/spikes.hpp"
#include "spikeweave/spikes/files.hpp"
#include "support/run_length.hpp"
#include "support/shared_data.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

constexpr duration most_disorder = 30ms;

spike_sequence part_of(const spike_sequence& all, duration begin, duration end) {
    const auto times = all.times_us();
    const auto from = std::lower_bound(times.begin(), times.end(), begin.count()) - times.begin();
    const auto to = std::lower_bound(times.begin(), times.end(), end.count()) - times.begin();
    const auto units = all.units();
    return {{times.begin() + from, times.begin() + to},
            {units.begin() + from, units.begin() + to},
            all.unit_names(),
            {begin, end}};
}

struct compared_with_batch : sink {
    const spike_sequence* spikes;
    episode_mining_options mining;
    std::vector<std::vector<std::int64_t>> detections{};
    std::size_t windows = 0;
    std::size_t episodes = 0;

    compared_with_batch(const spike_sequence& all, episode_mining_options options)
        : spikes(&all), mining(std::move(options)) {}

    void take(const event& what) override {
        what.visit(handlers{[&](const detection& one) {
                                if (one.armed != 0) return;
                                detections.emplace_back(one.times_us.begin(), one.times_us.end());
                            },
                            [&](const mined_window& window) { compare(window); },
                            [&](const session_ended& end) { check(end.counts); }});
    }
    void compare(const mined_window& window) {
        const auto& [bounds, count, table] = window.mined;
        const spike_sequence alone = part_of(*spikes, bounds.begin, bounds.end);
        EXPECT_EQ(count, alone.size());
        EXPECT_EQ(table.episodes, mine_episodes(alone, mining).episodes)
            << "window " << bounds.number;
        ++windows;
        episodes += table.episodes.size();
        expect_tracked(table, alone);
    }
    // What is tracked has the counts that are in the table.
    void expect_tracked(const episode_table& table, const spike_sequence& alone) const {
        std::vector<episode> tracked;
        std::vector<std::uint64_t> counts;
        for (const counted_episode& one : table.episodes) {
            if (tracked.size() == 500) break;
            tracked.push_back(one.what);
            counts.push_back(one.count);
        }
        const duration length = alone.span().end - alone.span().begin;
        episode_tracker tracker(tracked, spikes->unit_count(), length, mining.ties);
        const spike_sequence before =
            part_of(*spikes, alone.span().begin - length / 2, alone.span().end);
        for (std::size_t i = 0; i < before.size(); ++i)
            tracker.add(before.times_us()[i], before.units()[i]);
        tracker.advance(alone.span().end.count());
        for (std::size_t i = 0; i < tracked.size(); ++i)
            EXPECT_EQ(tracker.count(i), counts[i]) << "episode " << i;
    }
    void check(const session_counts& counts) const {
        EXPECT_FALSE(counts.has_losses());
        EXPECT_EQ(counts.incomplete, 0U);
        EXPECT_EQ(counts.order.accepted, spikes->size());
    }
};

std::vector<spike_event> disordered(const spike_sequence& spikes, std::mt19937_64& random) {
    std::vector<std::pair<std::int64_t, spike_event>> sent;
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const spike_event one{spikes.times_us()[i], spikes.units()[i]};
        sent.emplace_back(
            one.time_us + static_cast<std::int64_t>(
                              random() % static_cast<std::uint64_t>(most_disorder.count())),
            one);
    }
    std::ranges::sort(sent);
    std::vector<spike_event> arrived;
    for (const auto& [when, one] : sent) arrived.push_back(one);
    return arrived;
}

// @param hop  a tenth of it in a long run
void expect_batch_results(const spike_sequence& spikes, episode_window_options options,
                          episode armed) {
    if (is_long_run()) options.hop /= 10;
    std::mt19937_64 random(1);
    compared_with_batch results(spikes, options.mining);
    const session_options analysis{
        .order = {.policy = order_policy::lateness, .lateness = most_disorder},
        .armed = {{armed}},
        .detector = {.ties = options.mining.ties},
        .windows = options,
        .pace = {.beside = true}};
    session live(spikes.unit_names(), analysis, results);
    const std::vector<spike_event> arrived = disordered(spikes, random);
    for (std::size_t at = 0; at < arrived.size();) {
        source_block block;
        for (std::uint64_t n = random() % 2000; n-- > 0 && at < arrived.size();)
            block.spikes.push_back(arrived[at++]);
        live.take(block);
    }
    live.finish();

    EXPECT_EQ(results.detections, find_occurrences(spikes, armed, options.mining.ties));
    EXPECT_GT(results.detections.size(), 20U);
    EXPECT_GT(results.windows, 10U);
    EXPECT_GT(results.episodes, 10 * results.windows);
}

// The most frequent pair.
episode pair_in(const spike_sequence& spikes, const episode_mining_options& mining) {
    episode_mining_options pairs = mining;
    pairs.max_size = 2;
    const auto table = mine_episodes(spikes, pairs).episodes;
    return std::ranges::max_element(
               table, {},
               [](const counted_episode& one) { return one.what.size() == 2 ? one.count : 0; })
        ->what;
}

TEST(Recordings, OfSym26HaveTheResultsOfBatchAnalysis) {
    const spike_sequence spikes = simulate_sym26({.seed = 1}).spikes;
    const episode_mining_options mining{.delays = default_delays(), .min_count = 50};
    expect_batch_results(spikes, {10s, 2s, mining}, pair_in(spikes, mining));
}

TEST(Recordings, OfCulturesHaveTheResultsOfBatchAnalysis) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("wagenaar2006");
    for (const tie_rule ties : {tie_rule::time, tie_rule::order}) {
        if (is_shortened_run() && ties != tie_rule::time) continue;
        const auto first = read_spikes(shared_data("wagenaar2006/2-1-20.spk.txt")).spikes;
        episode_mining_options mining{.delays = default_delays(), .min_count = 20, .ties = ties};
        expect_batch_results(first, {60s, 50s, mining}, pair_in(first, mining));
        const auto bursting = read_spikes(shared_data("wagenaar2006/6-2-28.spk.txt")).spikes;
        mining = {.delays = default_delays(), .min_count = 60, .max_size = 3, .ties = ties};
        expect_batch_results(bursting, {60s, 50s, mining}, pair_in(bursting, mining));
    }
}

TEST(Recordings, OfTheRetinaHaveTheResultsOfBatchAnalysis) {
    SPIKEWEAVE_NEEDS_SHARED_DATA("retina_p10_794units.tsv.gz");
    const auto spikes = read_spikes(shared_data("retina_p10_794units.tsv.gz")).spikes;
    const episode_mining_options mining{.delays = {{0ms, 20ms}}, .min_count = 15, .max_size = 3};
    expect_batch_results(spikes, {30s, 60s, mining}, pair_in(spikes, mining));
}

}  // namespace
}  // namespace spikeweave::live
