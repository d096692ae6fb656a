#include "live/metrics/session_monitor.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/session/session.hpp"

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
    all_results told({}, 0);
    auto slow = std::make_unique<slow_sink>();
    told.add(std::move(slow));
    session through(from.names, {.armed = {{{{a, b}, {{duration{0}, duration{5'000}}}}}}}, told);
    session_monitor monitor;
    monitored_source monitored(from, through, monitor, told);
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
    const auto of = [&](stage one) { return state.stages[static_cast<std::size_t>(one)]; };
    EXPECT_EQ(of(stage::sorting).count(), 0U);
    EXPECT_EQ(of(stage::detection).count(), 1U);
    EXPECT_LT(of(stage::detection).sum_s(), of(stage::trigger).sum_s());
    EXPECT_GE(of(stage::trigger).sum_s(), 0.03);
    EXPECT_GE(of(stage::whole).sum_s(), of(stage::trigger).sum_s());
}

// Samples that wait longer and longer, and then no more.
struct waiting_source : scripted_source {
    std::optional<sampling_state> sampling() const override {
        return sampling_state{.behind_s = 3};
    }
};

struct noted_waits : sink {
    void take(const event& what) override {
        what.visit(handlers{[this](const samples_waiting& now) { all.push_back(now.behind_s); }});
    }
    std::vector<double> all{};
};

TEST(SessionMonitor, TellsOnceThatSamplesWait) {
    waiting_source from;
    from.blocks = {{.watermark_us = 1}, {.watermark_us = 2}};
    all_results told({}, 0);
    auto noted = std::make_unique<noted_waits>();
    const noted_waits& waits = *noted;
    told.add(std::move(noted));
    session through(from.names, {}, told);
    session_monitor monitor;
    monitored_source monitored(from, through, monitor, told);
    run_session(monitored, through);
    EXPECT_FALSE(monitored.next());
    EXPECT_EQ(waits.all, std::vector<double>{3});
    ASSERT_TRUE(monitor.state().sampling);
    EXPECT_EQ(monitor.state().sampling->behind_s, 3);
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

TEST(LatencyHistogram, KnowsWhatSharesDoNotExceed) {
    latency_histogram latency;
    EXPECT_EQ(latency.within_s(0.5), 0);
    for (int ms = 1; ms <= 1000; ++ms) latency.add(ms * 1e-3);
    for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        EXPECT_GE(latency.within_s(share), share - 1e-9);
        EXPECT_LE(latency.within_s(share), share * 1.1);
    }
    EXPECT_EQ(latency.within_s(1), 1);
    latency.add(70, 2000);
    EXPECT_EQ(latency.within_s(0.5), 70);
    EXPECT_EQ(latency.count(), 3000U);
}

TEST(MetricsText, HasTheFormOfPrometheus) {
    monitored_state state;
    state.counts.order.accepted = 5;
    state.latency.add(0.5);
    state.of(stage::whole).add(0.003, 2);
    state.sampling = {
        .behind_s = 0.25, .left_out = 90, .channels = {{"c1", 7, 8}}, .motion_um = {{155, -2.5}}};
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
         {"# TYPE spikeweave_live_spikes_total counter",
          "spikeweave_live_spikes_total 5",
          "# TYPE spikeweave_live_watermark_age_seconds gauge",
          "spikeweave_live_watermark_age_seconds 1.5",
          "spikeweave_live_delivered_total{to=\"a\\\"\\\\\\n\"} 0",
          "spikeweave_live_undelivered_total{to=\"a\\\"\\\\\\n\"} 1",
          "# TYPE spikeweave_live_block_seconds histogram",
          "spikeweave_live_block_seconds_bucket{le=\"0.2\"} 0",
          "spikeweave_live_block_seconds_bucket{le=\"0.5\"} 1",
          "spikeweave_live_block_seconds_bucket{le=\"+Inf\"} 1",
          "spikeweave_live_block_seconds_sum 0.5",
          "spikeweave_live_block_seconds_count 1",
          "spikeweave_live_stage_seconds_bucket{stage=\"whole\",le=\"0.005\"} 2",
          "spikeweave_live_stage_seconds_count{stage=\"whole\"} 2",
          "spikeweave_live_samples_behind_seconds 0.25",
          "spikeweave_live_left_out_frames_total 90",
          "spikeweave_live_channel_limit_frames{channel=\"c1\"} 7",
          "spikeweave_live_displacement_um{depth_um=\"155\"} -2.5",
          "spikeweave_live_channel_constant_frames{channel=\"c1\"} 8",
          "process_resident_memory_bytes 4096"})
        EXPECT_NE(("\n" + text).find("\n" + line + "\n"), std::string::npos) << line << "\n"
                                                                             << text;
}

}  // namespace
}  // namespace spikeweave::live
