#include "spikeweave/pipeline/episodes/changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "support/independent_spikes.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t second_us = 1'000'000;

// Six units of 20 Hz, which from `half` on keep only a share of their spikes; "1" follows "0" 5 ms
// later with a probability that may differ from there on.
struct changing_recording {
    double before = 0.1;
    double after = 0.1;
    double kept = 1;

    spike_sequence make(std::uint64_t seed, std::int64_t seconds) const {
        std::mt19937_64 random(seed);
        std::uniform_real_distribution<double> uniform;
        independent_spikes stream(seed, 6, 20);
        std::vector<std::pair<std::int64_t, unit_id>> all;
        for (auto spike = stream.next(); spike.first < seconds * second_us; spike = stream.next()) {
            const bool is_late = spike.first >= seconds * second_us / 2;
            if (is_late && uniform(random) >= kept) continue;
            all.push_back(spike);
            if (spike.second == unit_id{0} && uniform(random) < (is_late ? after : before))
                all.emplace_back(spike.first + 5000, unit_id{1});
        }
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return sequence_of(std::move(all), {"0", "1", "2", "3", "4", "5"},
                           {0s, duration{(seconds + 1) * second_us}});
    }
};

std::vector<time_span> windows_of(std::int64_t number, std::int64_t seconds) {
    std::vector<time_span> out;
    for (std::int64_t w = 0; w < number; ++w)
        out.push_back({duration{w * seconds * second_us}, duration{(w + 1) * seconds * second_us}});
    return out;
}

episode_options search_of_changes() {
    episode_options search;
    search.mining.delays = {{4ms, 6ms}};
    search.mining.max_size = 2;
    search.run.threads = 1;
    return search;
}

circuit_changes changes_in(const changing_recording& how, std::uint64_t seed = 4) {
    return find_circuit_changes(how.make(seed, 120), windows_of(12, 10), search_of_changes());
}

TEST(CircuitChanges, FindWhenAConnectionBecomesStronger) {
    const circuit_changes found = changes_in({.before = 0.05, .after = 0.4});

    ASSERT_FALSE(found.circuit.found.empty());
    EXPECT_EQ(found.circuit.found[0].at, 6U);
    const auto edge = std::ranges::find(
        found.findings, episode{{unit_id{0}, unit_id{1}}, {{4ms, 6ms}}}, &finding_change::what);
    ASSERT_NE(edge, found.findings.end());
    EXPECT_EQ(edge->change, change_kind::excess);
    ASSERT_TRUE(edge->excess.point);
    EXPECT_EQ(edge->excess.point->at, 6U);
    EXPECT_LT(edge->excess.before, 0.12);
    EXPECT_GT(edge->excess.after, 0.2);
    EXPECT_LT(edge->rate.before, edge->rate.after);
}

// Half of the spikes make the pair rarer, but not less reliable.
TEST(CircuitChanges, TellFiringRatesFromTheCircuit) {
    const circuit_changes found = changes_in({.before = 0.3, .after = 0.3, .kept = 0.5});

    ASSERT_FALSE(found.firing_rates.found.empty());
    EXPECT_EQ(found.firing_rates.found[0].at, 6U);
    EXPECT_TRUE(found.circuit.found.empty());
    ASSERT_EQ(found.findings.size(), 1U);
    EXPECT_EQ(found.findings[0].change, change_kind::rate);
    EXPECT_GT(found.findings[0].rate.before, 1.3 * found.findings[0].rate.after);
}

// "0" fires alone for a minute, then in bursts of nine spikes. A spike is followed by one of "1" as
// often, but the rotated spikes of a burst occur with the followers of one another.
TEST(CircuitChanges, TellBurstsFromTheCircuit) {
    constexpr double probability = 0.2;
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform;
    std::vector<std::pair<std::int64_t, unit_id>> all;
    std::size_t spikes = 0;
    for (double time = 0; time < 120 * second_us; ++spikes) {
        const bool begins_burst = time < 60 * second_us || spikes % 9 == 0;
        time += begins_burst ? 60'000 + 80'000 * uniform(random) : 3'000 + 5'000 * uniform(random);
        const auto us = static_cast<std::int64_t>(time);
        all.emplace_back(us, unit_id{0});
        if (uniform(random) < probability)
            all.emplace_back(us + 4'200 + static_cast<std::int64_t>(1'600 * uniform(random)),
                             unit_id{1});
    }
    std::ranges::sort(all);

    const auto found = find_circuit_changes(sequence_of(std::move(all), {"0", "1"}, {0s, 121s}),
                                            windows_of(12, 10), search_of_changes());

    ASSERT_FALSE(found.firing_rates.found.empty());
    EXPECT_TRUE(found.circuit.found.empty());
    ASSERT_EQ(found.findings.size(), 1U);
    EXPECT_EQ(found.findings[0].change, change_kind::rate);
    // The standard error of `before` is 0.016.
    EXPECT_NEAR(found.findings[0].excess.before, probability, 0.05);
    EXPECT_NEAR(found.findings[0].excess.after, probability, 0.05);
}

TEST(CircuitChanges, FindNothingInWhatStaysTheSame) {
    const circuit_changes found = changes_in({.before = 0.3, .after = 0.3});

    EXPECT_TRUE(found.firing_rates.found.empty());
    EXPECT_TRUE(found.circuit.found.empty());
    ASSERT_EQ(found.findings.size(), 1U);
    EXPECT_EQ(found.findings[0].change, change_kind::none);
    EXPECT_TRUE(found.warnings.empty());
}

TEST(CircuitChanges, TakeACountInProportionToTheTime) {
    const spike_sequence spikes = changing_recording{.before = 0.2, .after = 0.2}.make(5, 120);
    // Where the circuit is of the frequent pairs: tests of all pairs do not depend on a threshold.
    episode_options search = search_of_changes();
    search.significance.test = significance_test::exact;
    const auto edges_at = [&](std::uint64_t least) {
        search.mining.min_count = least;
        return find_circuit_changes(spikes, windows_of(12, 10), search).findings.size();
    };
    // The pair occurs about 60 times in a window.
    EXPECT_EQ(edges_at(30), 1U);
    EXPECT_EQ(edges_at(200), 0U);
}

TEST(CircuitChanges, AreOfWindowsOfOneLength) {
    const spike_sequence spikes = changing_recording{}.make(5, 60);
    std::vector<time_span> windows = windows_of(6, 10);
    windows.back().end -= 1s;
    EXPECT_THROW(find_circuit_changes(spikes, windows, search_of_changes()), invalid_argument);
    EXPECT_THROW(find_circuit_changes(spikes, {}, search_of_changes()), invalid_argument);
}

TEST(CircuitChanges, SayThatThereAreFewWindows) {
    const spike_sequence spikes = changing_recording{}.make(5, 60);

    const auto found = find_circuit_changes(spikes, windows_of(6, 10), search_of_changes());

    ASSERT_EQ(found.warnings.size(), 1U);
    EXPECT_NE(found.warnings[0].find("6 windows"), std::string::npos) << found.warnings[0];
}

TEST(CircuitChanges, AreOfWindowsThatShareNoTime) {
    std::vector<time_span> windows;
    for (std::int64_t w = 0; w < 9; ++w) windows.push_back({w * 3s, w * 3s + 7s});

    EXPECT_EQ(windows_apart(windows), (std::vector<time_span>{{0s, 7s}, {9s, 16s}, {18s, 25s}}));
    EXPECT_TRUE(windows_apart({}).empty());
    EXPECT_THROW(
        find_circuit_changes(changing_recording{}.make(1, 40), windows, search_of_changes()),
        invalid_argument);
}

}  // namespace
}  // namespace spikeweave
