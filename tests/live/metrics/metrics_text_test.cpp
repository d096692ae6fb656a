#include "live/metrics/session_monitor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/session/session.hpp"
#include "live/sources/arrivals.hpp"

namespace spikeweave::live {
namespace {

struct scripted_source : source {
    std::vector<source_block> blocks{};
    std::size_t at = 0;

    const std::vector<std::string>& unit_names() const override { return names; }
    std::optional<source_block> next() override {
        if (at == blocks.size()) return {};
        return blocks[at++];
    }
    std::vector<std::string> names{"a", "b"};
};

struct slow_sink : sink {
    void take(const event& what) override {
        what.visit(handlers{
            [](const detection&) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }});
    }
};

TEST(SessionMonitor, KnowsCountsWatermarkAndLatencies) {
    scripted_source from;
    const unit_id a{0};
    const unit_id b{1};
    from.blocks = {{.missing = 2, .spikes = {{1'000, a}}},
                   {},
                   {.spikes = {{3'000, b}, {2'000, a}}, .watermark_us = 3'000},
                   {}};
    slow_sink results;
    session through(from.names, {.armed = {{{{a, b}, {{duration{0}, duration{5'000}}}}}}}, results);
    session_monitor monitor;
    arrivals arriving;
    monitored_source monitored(from, through, monitor, arriving);
    const auto begin = std::chrono::steady_clock::now();
    run_session(monitored, through);

    const monitored_state state = monitor.state();
    EXPECT_EQ(state.counts.missing, 2U);
    EXPECT_EQ(state.counts.detections, 1U);
    EXPECT_EQ(state.counts.order.late, 1U);
    EXPECT_EQ(state.watermark_us, 3'000);
    EXPECT_GE(state.watermark_since, begin);
    // Empty blocks are not counted; the second of the others was detected slowly.
    EXPECT_EQ(state.latency.count(), 2U);
    EXPECT_GE(state.latency.sum_s(), 0.03);
    EXPECT_EQ(state.latency.count_up_to(10), 1U);  // 20 ms
}

TEST(LatencyHistogram, CountsUpToEachBound) {
    latency_histogram latency;
    for (const double one : {0.0, 1e-5, 1.1e-5, 0.7, 10.0, 11.0}) latency.add(one);
    EXPECT_EQ(latency.count_up_to(0), 2U);
    EXPECT_EQ(latency.count_up_to(1), 3U);
    EXPECT_EQ(latency.count_up_to(14), 3U);
    EXPECT_EQ(latency.count_up_to(15), 4U);
    EXPECT_EQ(latency.count_up_to(18), 5U);
    EXPECT_EQ(latency.count(), 6U);
}

TEST(MetricsText, HasTheFormOfPrometheus) {
    monitored_state state;
    state.counts.order.accepted = 5;
    state.latency.add(0.5);
    const auto now = std::chrono::steady_clock::now();
    std::string text = metrics_text(state, {}, 4096, now);
    EXPECT_EQ(text.find("watermark"), std::string::npos);
    EXPECT_EQ(text.find("undelivered"), std::string::npos);

    state.watermark_us = 7;
    state.watermark_since = now - std::chrono::milliseconds(1500);
    const auto report = std::make_shared<delivery_report>("a\"\\\n");
    report->tell_lost("?");
    text = metrics_text(state, {report}, 4096, now);
    for (const std::string line :
         {"# TYPE spikeweave_live_spikes_total counter", "spikeweave_live_spikes_total 5",
          "# TYPE spikeweave_live_watermark_age_seconds gauge",
          "spikeweave_live_watermark_age_seconds 1.5",
          "spikeweave_live_delivered_total{to=\"a\\\"\\\\\\n\"} 0",
          "spikeweave_live_undelivered_total{to=\"a\\\"\\\\\\n\"} 1",
          "# TYPE spikeweave_live_block_seconds histogram",
          "spikeweave_live_block_seconds_bucket{le=\"0.2\"} 0",
          "spikeweave_live_block_seconds_bucket{le=\"0.5\"} 1",
          "spikeweave_live_block_seconds_bucket{le=\"+Inf\"} 1",
          "spikeweave_live_block_seconds_sum 0.5", "spikeweave_live_block_seconds_count 1",
          "process_resident_memory_bytes 4096"})
        EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << line << "\n"
                                                                             << text;
}

}  // namespace
}  // namespace spikeweave::live
