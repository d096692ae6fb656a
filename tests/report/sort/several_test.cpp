#include "report/several.hpp"

#include <gtest/gtest.h>

#include "report/page_spikes.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;
using report::json;
using report::named_result;

// Spikes of units 0, 1, … at these times in microseconds.
spike_sequence units_at(const std::vector<std::vector<std::int64_t>>& trains) {
    std::vector<std::pair<std::int64_t, unit_id>> spikes;
    std::vector<std::string> names;
    for (std::size_t u = 0; u < trains.size(); ++u) {
        names.push_back(std::to_string(u + 1));
        for (const std::int64_t time : trains[u])
            spikes.emplace_back(time, unit_id{static_cast<std::uint32_t>(u)});
    }
    return sequence_of(std::move(spikes), std::move(names), {0s, 1s});
}

named_result page_of_sorting(const std::string& name, const spike_sequence& spikes,
                             double rate = 30'000, int samples = 30'000) {
    return {name,
            name,
            {{"recording", {{"sample_rate_hz", rate}, {"samples", samples}}},
             {"run", json::object()},
             {"unit_names", spikes.unit_names()},
             {"spikes", report::page_spikes(spikes)},
             {"channels", nullptr},
             {"waveforms", nullptr},
             {"units", json::object()}}};
}

json compared(const spike_sequence& one, const spike_sequence& other) {
    return json::parse(report::several_sortings_data(
        {page_of_sorting("one", one), page_of_sorting("other", other)}, {}));
}

TEST(Agreement, IsTheShareOfSpikesThatBothUnitsHave) {
    const auto pairs = report::agreement_of(units_at({{1000, 5000, 9000, 20'000}}),
                                            units_at({{1400, 4600, 9401}, {19'999}}), {});

    ASSERT_EQ(pairs.size(), 2U);
    EXPECT_EQ(pairs[0].matches, 2U);  // 0.4 ms apart is the same spike, 0.401 ms is not
    EXPECT_DOUBLE_EQ(pairs[0].agreement, 2.0 / (4 + 3 - 2));
    EXPECT_EQ(pairs[1].other, unit_id{1});
    EXPECT_DOUBLE_EQ(pairs[1].agreement, 1.0 / (4 + 1 - 1));
}

TEST(Agreement, CountsEachSpikeOnceInAPair) {
    const auto matches = [](const spike_sequence& one, const spike_sequence& other) {
        return report::agreement_of(one, other, {}).at(0).matches;
    };

    EXPECT_EQ(matches(units_at({{1000}}), units_at({{800, 1200}})), 1U);
    EXPECT_EQ(matches(units_at({{800, 1200}}), units_at({{1000}})), 1U);
    // The earliest that is left: 800 with 700, 1200 with 900.
    EXPECT_EQ(matches(units_at({{800, 1200}}), units_at({{700, 900}})), 2U);
}

// The matching by earliest spikes is the largest there is, found here by augmenting paths.
TEST(Agreement, IsTheLargestMatching) {
    const auto largest = [](const std::vector<std::int64_t>& one,
                            const std::vector<std::int64_t>& other) {
        std::vector<int> taken(other.size(), -1);
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < one.size(); ++i) {
            std::vector<bool> seen(other.size());
            const auto take = [&](const auto& self, std::size_t from) -> bool {
                for (std::size_t j = 0; j < other.size(); ++j) {
                    if (seen[j] || std::abs(other[j] - one[from]) > 400) continue;
                    seen[j] = true;
                    if (taken[j] < 0 || self(self, static_cast<std::size_t>(taken[j]))) {
                        taken[j] = static_cast<int>(from);
                        return true;
                    }
                }
                return false;
            };
            found += take(take, i) ? 1 : 0;
        }
        return found;
    };
    std::uint64_t state = 1;
    const auto random_times = [&] {
        std::vector<std::int64_t> times;
        std::int64_t time = 0;
        for (int i = 0; i < 40; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            times.push_back(time += 1 + static_cast<std::int64_t>((state >> 33U) % 600));
        }
        return times;
    };
    for (int round = 0; round < 200; ++round) {
        const auto one = random_times();
        const auto other = random_times();
        EXPECT_EQ(report::agreement_of(units_at({one}), units_at({other}), {}).at(0).matches,
                  largest(one, other));
    }
}

TEST(SortingComparison, ListsEachUnitWithItsBestMatch) {
    const spike_sequence one =
        units_at({{1000, 11'000, 21'000, 31'000}, {5000, 15'000, 25'000}, {900'000}});
    const spike_sequence other =
        units_at({{500'000}, {5001, 15'001, 25'001}, {1001, 11'001, 21'001, 35'000}});

    const json rows = compared(one, other).at("rows");

    EXPECT_EQ(rows.at("one"), (json{0, 1, 2, nullptr}));
    EXPECT_EQ(rows.at("other"), (json{2, 1, nullptr, 0}));
    EXPECT_EQ(rows.at("matches"), (json{3, 3, 0, 0}));
    EXPECT_EQ(rows.at("agreement"), (json{3.0 / 5, 1.0, 0, 0}));
    EXPECT_EQ(rows.at("matched"), (json{true, true, false, false}));
}

TEST(SortingComparison, MatchesAUnitOnceOnly) {
    // Both halves of a unit that one sorting split; the larger one is the match.
    const spike_sequence whole = units_at({{1000, 2000, 3000, 4000, 5000}});
    const spike_sequence halves = units_at({{1000, 2000}, {3000, 4000, 5000}});

    const json rows = compared(whole, halves).at("rows");
    const json reversed = compared(halves, whole).at("rows");

    EXPECT_EQ(rows.at("one"), (json{0, 0}));
    EXPECT_EQ(rows.at("other"), (json{1, 0}));
    EXPECT_EQ(rows.at("matched"), (json{true, false}));
    EXPECT_EQ(reversed.at("matched"), (json{false, true}));
}

TEST(SortingComparison, RefusesSortingsOfDifferentRecordings) {
    const spike_sequence spikes = units_at({{1000}});
    const auto with = [&](double rate, int samples) {
        return report::several_sortings_data(
            {page_of_sorting("one", spikes), page_of_sorting("other", spikes, rate, samples)}, {});
    };

    EXPECT_NO_THROW(with(30'000, 30'000));
    EXPECT_NO_THROW(with(30'000, 0));  // the length is not known
    EXPECT_THROW(with(30'000, 29'999), invalid_argument);
    EXPECT_THROW(with(25'000, 30'000), invalid_argument);
    EXPECT_THROW(with(0, 30'000), invalid_argument);  // the times are not known
    const named_result page = page_of_sorting("one", spikes);
    EXPECT_THROW(report::several_sortings_data({page, page, page}, {}), invalid_argument);
}

}  // namespace
}  // namespace spikeweave
