#include "spikeweave/report/bursts.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run_json.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

// Four units of which the first three burst together every ten seconds: four spikes, 10 ms apart.
burst_report report_with(int bursts) {
    std::vector<std::int64_t> times_us;
    std::vector<unit_id> units;
    for (int i = 0; i < bursts; ++i)
        for (int spike = 0; spike < 4; ++spike)
            for (std::uint32_t u = 0; u < 3; ++u) {
                times_us.push_back(10'000'000 * i + 10'000 * spike + 1'000 * u);
                units.push_back(unit_id{u});
            }
    times_us.push_back(59'000'000);
    units.push_back(unit_id{3});
    spike_sequence spikes(std::move(times_us), std::move(units), {"a", "b", "c", "d"}, {0us, 60s});
    burst_result found = find_bursts(spikes);
    return report_of(std::move(spikes), std::move(found));
}

TEST(BurstReport, BeginsWithTheResultInASentence) {
    EXPECT_EQ(verdict_of(report_with(5)),
              "15 bursts of 3 of 4 units, and 5 network bursts in 60 s.");
    EXPECT_TRUE(summarize(report_with(5)).starts_with(verdict_of(report_with(5))));
    EXPECT_EQ(report::json::parse(document_of(report_with(5))).at("run").at("summary"),
              verdict_of(report_with(5)));
}

TEST(BurstReport, HasARowOfEachUnitAndBurst) {
    const auto all = report::json::parse(to_json(report_with(5)));
    ASSERT_EQ(all.at("units").size(), 4U);
    EXPECT_EQ(all.at("units").at(0).at("bursts"), 5);
    EXPECT_EQ(all.at("units").at(0).at("share_in_bursts"), 1);
    EXPECT_EQ(all.at("units").at(3).at("bursts"), 0);
    EXPECT_TRUE(all.at("units").at(3).at("mean_duration_s").is_null());
    ASSERT_EQ(all.at("bursts").size(), 15U);
    EXPECT_EQ(all.at("bursts").at(4).at("unit"), "b");
    EXPECT_EQ(all.at("bursts").at(4).at("spikes"), 4);
    ASSERT_EQ(all.at("network_bursts").size(), 5U);
    EXPECT_EQ(all.at("network_bursts").at(1).at("participating"), 3);
}

TEST(BurstReport, HasMediansOverTheUnitsThatBurst) {
    const auto all = report::json::parse(to_json(report_with(5)));
    const report::json& summary = all.at("summary");
    EXPECT_EQ(summary.at("bursting"), 3);
    EXPECT_EQ(summary.at("bursts_per_minute"), 5);
    EXPECT_EQ(summary.at("network_bursts_per_minute"), 5);
    const auto none = report::json::parse(to_json(report_with(0)));
    EXPECT_TRUE(none.at("summary").at("bursts_per_minute").is_null());
}

}  // namespace
}  // namespace spikeweave
