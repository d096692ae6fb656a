#include "report/episodes/several.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "report/several.hpp"
#include "spikeweave/assess/rate_change.hpp"
#include "spikeweave/core/error.hpp"
#include "support/temporary_folder.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using report::compared_result;
using report::several_results;

report::json run_of(const std::string& delays, std::vector<int> chains = {}) {
    return {{"parameters", {{"delays", delays}, {"ties", "time"}}},
            {"circuit", {{"chains", std::move(chains)}}}};
}

// Two units that fire one after another, 5 ms apart, each second.
spike_sequence pairs_of(std::vector<std::string> names, unit_id first, unit_id second,
                        std::int64_t number) {
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    for (std::int64_t i = 0; i < number; ++i) {
        times_us.insert(times_us.end(), {1'000'000 * i, 1'000'000 * i + 5000});
        units.insert(units.end(), {first, second});
    }
    return {std::move(times_us), std::move(units), std::move(names), {0s, 100s}};
}

// A frequent episode of which a result says that it is significant or not.
report::episode_row listed(std::size_t number, episode what, std::uint64_t count,
                           bool significant = true, double expected = 0.25, double q = 1e-8) {
    return {.number = number,
            .what = std::move(what),
            .in = {.count = count,
                   .expected = expected,
                   .q = q,
                   .strength = 0.75,
                   .significant = significant,
                   .is_listed = true}};
}

// The edge from a unit to another.
report::compared_edge edge(unit_id from, unit_id to, delay_interval delay, delay_interval best,
                           const std::string& kind = "direct",
                           const std::string& sign = "excitatory") {
    return {{{from, to}, {best}}, delay, kind, sign, 1e-8};
}

compared_result made_result(const std::string& name, std::vector<report::episode_row> episodes,
                            std::vector<report::compared_edge> edges, spike_sequence spikes,
                            report::json run = run_of("4-6ms,6-8ms")) {
    return {name, name, std::move(run), std::move(spikes), std::move(edges), std::move(episodes)};
}

constexpr unit_id first{0};
constexpr unit_id second{1};
constexpr delay_interval near_delay{4ms, 6ms};
constexpr delay_interval far_delay{6ms, 8ms};

// "x→y" three times in the first result; twice in the second one, where it is not listed, and
// where the units have other numbers. One unit has the name of the episode.
several_results small_results() {
    return report::several_of(
        {made_result("one", {listed(1, {{unit_id{0}, unit_id{2}}, {near_delay}}, 3)},
                     {edge(unit_id{0}, unit_id{2}, near_delay, near_delay)},
                     pairs_of({"x", "x→y", "y"}, unit_id{0}, unit_id{2}, 3)),
         made_result("two", {}, {}, pairs_of({"10", "y", "9", "x"}, unit_id{3}, unit_id{1}, 2))},
        {});
}

TEST(Comparison, MatchesUnitsByNameAndCountsWhatIsNotListed) {
    const several_results compared = small_results();

    const std::vector<std::string> names{"9", "10", "x", "x→y", "y"};
    for (const compared_result& one : compared.results) EXPECT_EQ(one.spikes.unit_names(), names);
    ASSERT_EQ(compared.episodes.size(), 1U);
    const auto& [what, in] = compared.episodes.front();
    EXPECT_EQ(what, (episode{{unit_id{2}, unit_id{4}}, {{4ms, 6ms}}}));
    ASSERT_EQ(in.size(), 2U);
    EXPECT_EQ(in[0].count, 3U);
    EXPECT_EQ(in[0].q, 1e-8);
    EXPECT_EQ(in[0].strength, 0.75);
    EXPECT_TRUE(in[0].significant);
    EXPECT_EQ(in[0].kind, "direct");
    EXPECT_EQ(in[1].count, 2U);
    EXPECT_TRUE(in[1].q.is_null());
    EXPECT_FALSE(in[1].significant);
    EXPECT_EQ(in[1].kind, "");
}

TEST(Comparison, ComparesEdgesByTheirBestDelay) {
    const auto spikes = pairs_of({"x", "y"}, unit_id{0}, unit_id{1}, 9);
    const episode near_pair{{first, second}, {near_delay}};
    const episode far_pair{{first, second}, {far_delay}};

    const several_results compared = report::several_of(
        {made_result("one", {listed(1, near_pair, 9)},
                     {edge(first, second, near_delay, near_delay)}, spikes),
         made_result("two", {listed(1, far_pair, 9), listed(2, near_pair, 9)},
                     {edge(first, second, {4ms, 8ms}, far_delay, "indirect")}, spikes)},
        {});

    ASSERT_EQ(compared.episodes.size(), 2U);
    const auto& [near, far] = std::pair(compared.episodes[0], compared.episodes[1]);
    EXPECT_EQ(near.what.delays, (std::vector<delay_interval>{{4ms, 6ms}}));
    EXPECT_EQ(far.what.delays, (std::vector<delay_interval>{{6ms, 8ms}}));
    EXPECT_EQ(near.in[0].kind, "direct");
    EXPECT_EQ(near.in[1].kind, "indirect");  // a significant delay that touches the best one
    EXPECT_EQ(far.in[0].kind, "");
    EXPECT_EQ(far.in[0].count, 0U);  // counted, as it is not listed
}

// "y" after "x" is frequent in both, and its count is tested for excess only.
TEST(Comparison, TakesInhibitionFromTheEdges) {
    const auto spikes = pairs_of({"x", "y"}, unit_id{0}, unit_id{1}, 9);
    const std::vector rows{listed(1, {{first, second}, {near_delay}}, 9, false, 99, 1)};

    const several_results compared = report::several_of(
        {made_result("one", rows,
                     {edge(first, second, {4ms, 7ms}, near_delay, "direct", "inhibitory")}, spikes),
         made_result("two", rows, {}, spikes)},
        {});

    ASSERT_EQ(compared.episodes.size(), 1U);
    const auto& [one, two] = std::pair(compared.episodes[0].in[0], compared.episodes[0].in[1]);
    EXPECT_EQ(one.sign, "inhibitory");
    EXPECT_EQ(one.q, 1e-8);
    EXPECT_TRUE(one.significant);
    EXPECT_EQ(two.sign, "");
    EXPECT_TRUE(two.q.is_null());
    EXPECT_FALSE(two.significant);
    const auto data = report::json::parse(report::several_episodes_data(compared, false, 0.05));
    EXPECT_EQ(data.at("episodes").at("sign").at(0), (report::json{"inhibitory", nullptr}));
}

// Windows overlap, so the best delay of one connection differs. Significance is that of the edge.
TEST(Comparison, HasEachPeakOnce) {
    const auto spikes = pairs_of({"x", "y"}, unit_id{0}, unit_id{1}, 9);
    const episode pair{{first, second}, {near_delay}};
    const std::vector early_edge{edge(first, second, {1ms, 3ms}, {1ms, 3ms})};
    const std::vector late_edge{edge(first, second, {4500us, 6500us}, {4500us, 6500us})};

    const several_results compared = report::several_of(
        {made_result("one", {listed(1, pair, 9, false, 9, 1)},
                     {edge(first, second, {4ms, 6500us}, near_delay)}, spikes),
         made_result("two", {}, late_edge, spikes), made_result("three", {}, late_edge, spikes),
         made_result("four", {listed(1, pair, 9, true, 9, 1e-9)}, early_edge, spikes)},
        {});

    ASSERT_EQ(compared.episodes.size(), 2U);
    const auto& [early, late] = std::pair(compared.episodes[0], compared.episodes[1]);
    EXPECT_EQ(early.what.delays, (std::vector<delay_interval>{{1ms, 3ms}}));
    EXPECT_EQ(late.what.delays, (std::vector<delay_interval>{{4500us, 6500us}}));
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(late.in[i].significant, i < 3) << i;
        EXPECT_EQ(early.in[i].significant, i == 3) << i;
        EXPECT_EQ(late.in[i].q, i < 3 ? report::json(1e-8) : report::json()) << i;
    }
}

TEST(Comparison, HasTheChainsOfAllCircuits) {
    const spike_sequence spikes({0, 5000, 10'000}, {unit_id{0}, unit_id{1}, unit_id{2}},
                                {"x", "y", "z"}, {0s, 1s});
    const episode chain{{unit_id{0}, unit_id{1}, unit_id{2}}, {near_delay, near_delay}};

    const several_results compared = report::several_of(
        {made_result("one", {listed(1, chain, 1), listed(2, {{unit_id{0}}, {}}, 1)}, {}, spikes,
                     run_of("4-6ms", {1})),
         made_result("two", {}, {}, spikes, run_of("4-6ms"))},
        {});

    ASSERT_EQ(compared.episodes.size(), 1U);
    EXPECT_EQ(compared.episodes[0].what.size(), 3U);
    EXPECT_EQ(compared.episodes[0].in[1].count, 1U);
}

TEST(Comparison, RefusesOtherDelays) {
    const auto spikes = pairs_of({"x", "y"}, unit_id{0}, unit_id{1}, 1);
    const auto compared_with = [&](report::json run) {
        return report::several_of({made_result("one", {}, {}, spikes),
                                   made_result("two", {}, {}, spikes, std::move(run))},
                                  {});
    };

    EXPECT_NO_THROW(compared_with(run_of("6-8ms,4-6ms")));
    EXPECT_THROW(compared_with(run_of("4-6ms")), invalid_argument);
    report::json other_ties = run_of("4-6ms,6-8ms");
    other_ties["parameters"]["ties"] = "order";
    EXPECT_THROW(compared_with(other_ties), invalid_argument);
}

// Two recordings of 100 s, with a count and a significance for each episode.
several_results changed(const std::vector<std::array<std::pair<std::uint64_t, bool>, 2>>& counts) {
    several_results out;
    out.results.resize(2);
    for (compared_result& one : out.results)
        one.spikes = pairs_of({"x", "y"}, unit_id{0}, unit_id{1}, 1);
    for (const auto& [before, after] : counts) {
        auto& added = out.episodes.emplace_back();
        added.in.resize(2);
        added.in[0].count = before.first;
        added.in[0].significant = before.second;
        added.in[1].count = after.first;
        added.in[1].significant = after.second;
    }
    return out;
}

TEST(Changes, AreSaidOfRatesThatDiffer) {
    const auto found = report::changes_between(changed({{{{0, false}, {40, true}}},
                                                        {{{40, true}, {0, false}}},
                                                        {{{40, true}, {90, true}}},
                                                        {{{90, true}, {40, true}}},
                                                        {{{40, true}, {41, true}}},
                                                        {{{40, false}, {41, true}}},
                                                        {{{40, false}, {90, false}}}}),
                                               0, 1, 0.05);

    std::vector<std::string> words;
    for (const auto& one : found) words.push_back(one.change);
    EXPECT_EQ(words, (std::vector<std::string>{"new", "gone", "stronger", "weaker", "", "", ""}));
}

TEST(Changes, CallInhibitionStrongerIfTheRateIsLower) {
    several_results compared = changed({{{{40, true}, {90, true}}},
                                        {{{90, true}, {40, true}}},
                                        {{{90, false}, {40, true}}},
                                        {{{40, true}, {90, false}}}});
    for (auto& [what, in] : compared.episodes)
        for (auto& one : in)
            if (one.significant) one.sign = "inhibitory";

    std::vector<std::string> words;
    for (const auto& one : report::changes_between(compared, 0, 1, 0.05))
        words.push_back(one.change);
    EXPECT_EQ(words, (std::vector<std::string>{"weaker", "stronger", "new", "gone"}));
}

TEST(Changes, AreCorrectedForAllEpisodes) {
    const several_results compared = changed(
        {{{{20, true}, {30, true}}}, {{{20, true}, {40, true}}}, {{{20, true}, {60, true}}}});

    const auto found = report::changes_between(compared, 0, 1, 0.05);

    const std::array<double, 3> p{rate_change_p_value({20, 100}, {30, 100}),
                                  rate_change_p_value({20, 100}, {40, 100}),
                                  rate_change_p_value({20, 100}, {60, 100})};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].p, p[i]);
    EXPECT_DOUBLE_EQ(found[2].q, 3 * p[2]);
    EXPECT_DOUBLE_EQ(found[1].q, 1.5 * p[1]);
    EXPECT_DOUBLE_EQ(found[0].q, p[0]);
}

TEST(ComparisonPage, ComparesASeriesStepByStepAndOthersWithTheFirst) {
    several_results compared = small_results();
    compared.results.push_back(compared.results.front());
    compared.episodes[0].in.push_back(compared.episodes[0].in.front());
    const auto steps = [&](bool is_series) {
        const auto data =
            report::json::parse(report::several_episodes_data(compared, is_series, 0.05));
        std::vector<std::pair<int, int>> out;
        for (const auto& change : data.at("changes"))
            out.emplace_back(change.at("from").get<int>(), change.at("to").get<int>());
        return out;
    };

    EXPECT_EQ(steps(true), (std::vector<std::pair<int, int>>{{0, 1}, {1, 2}}));
    EXPECT_EQ(steps(false), (std::vector<std::pair<int, int>>{{0, 1}, {0, 2}}));
}

TEST(ComparisonPage, CallsFoldersByWhatTellsThemApart) {
    using folders = std::array<std::filesystem::path, 2>;
    using names = std::vector<std::string>;

    EXPECT_EQ(report::names_of_folders(folders{"a/one/", "b/two"}), (names{"one", "two"}));
    EXPECT_EQ(report::names_of_folders(folders{"a/one/", "b/one"}), (names{"a/one/", "b/one"}));
}

}  // namespace
}  // namespace spikeweave
