#include "live/sources/sorted_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/simulate/recording.hpp"
#include "support/learned_templates.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

class given_samples : public sample_stream {
public:
    given_samples(recording_description of, std::vector<sample_block> blocks)
        : of_(std::move(of)), blocks_(std::move(blocks)) {}

    const recording_description& description() const override { return of_; }
    std::optional<sample_block> next() override {
        if (at_ == blocks_.size()) return {};
        return blocks_[at_++];
    }
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override {
        return {};
    }

private:
    recording_description of_;
    std::vector<sample_block> blocks_;
    std::size_t at_ = 0;
};

struct sorted_example {
    recording traces =
        simulate_recording({.channels = 8, .length = 10s, .units = 4, .low_hz = 10, .seed = 21})
            .traces;
    template_set set = *sort_whole(traces, true).learned;

    sample_block block(std::int64_t first, std::int64_t end) const {
        sample_block out{.first = first};
        out.counts.resize(static_cast<std::size_t>(end - first) * traces.channel_count());
        traces.read(static_cast<std::uint64_t>(first), out.counts);
        return out;
    }
    std::vector<source_block> sorted(std::vector<sample_block> blocks,
                                     const std::vector<std::size_t>& used = {0, 1, 2, 3},
                                     std::optional<interrupted_session> resumed = {}) const {
        sorted_samples from(
            std::make_unique<given_samples>(traces.description(), std::move(blocks)), set, used,
            motion_model::automatic, {.threads = 2}, std::move(resumed));
        std::vector<source_block> out;
        while (auto got = from.next()) out.push_back(std::move(*got));
        return out;
    }
    // Those of samples that nothing is before.
    std::vector<spike_event> spikes_of(std::int64_t first, std::int64_t end) const {
        return spikes_in(sorted({block(first, end)}));
    }
    static std::vector<spike_event> spikes_in(const std::vector<source_block>& blocks) {
        std::vector<spike_event> out;
        for (const source_block& each : blocks)
            out.insert(out.end(), each.spikes.begin(), each.spikes.end());
        return out;
    }
};

TEST(SortedSamples, GapsShiftNoTime) {
    const sorted_example from;
    const std::int64_t end = 150'000;
    const std::vector<spike_event> before = from.spikes_of(0, 60'000);
    const std::vector<spike_event> after = from.spikes_of(61'000, end);
    const std::vector<spike_event> whole = from.spikes_of(0, end);
    ASSERT_GT(after.size(), 50U);
    // Beyond what the filter and the window reach, spikes do not depend on what came before.
    const auto tail = [](const std::vector<spike_event>& all) {
        std::vector<spike_event> out;
        std::ranges::copy_if(all, std::back_inserter(out),
                             [](const spike_event& spike) { return spike.time_us > 2'100'000; });
        return out;
    };
    EXPECT_EQ(tail(after), tail(whole));

    sample_block second = from.block(61'000, 100'000);
    second.missing = 1'000;
    const std::vector<source_block> got = from.sorted(
        {from.block(0, 30'001), from.block(30'001, 60'000), second, {}, from.block(100'000, end)});

    std::vector<spike_event> expected = before;
    expected.insert(expected.end(), after.begin(), after.end());
    EXPECT_EQ(sorted_example::spikes_in(got), expected);
    std::uint64_t missing = 0;
    std::int64_t watermark_us = 0;
    for (const source_block& each : got) {
        missing += each.missing;
        if (each.watermark_us) {
            EXPECT_GE(*each.watermark_us, watermark_us);
            watermark_us = *each.watermark_us;
        }
        for (const spike_event& spike : each.spikes) EXPECT_LE(spike.time_us, watermark_us);
    }
    EXPECT_EQ(missing, 1'000U);
    EXPECT_EQ(watermark_us, 5'000'000);
}

TEST(SortedSamples, GivesTheSpikesOfTheUnitsThatAreUsed) {
    const sorted_example from;
    std::vector<spike_event> expected;
    for (const spike_event& spike : from.spikes_of(0, 60'000))
        if (to_index(spike.unit) % 2 == 1)
            expected.push_back(
                {spike.time_us, unit_id{static_cast<std::uint32_t>(to_index(spike.unit) / 2)}});
    ASSERT_GT(expected.size(), 20U);
    EXPECT_EQ(sorted_example::spikes_in(from.sorted({from.block(0, 60'000)}, {1, 3})), expected);
}

// The session was killed when the samples of 60,000 frames had come.
struct interrupted_example : sorted_example {
    std::vector<source_block> before = [this] {
        std::vector<source_block> all = sorted({block(0, 60'000), block(60'000, 60'001)});
        all.pop_back();  // what is decided at the end
        return all;
    }();
    std::int64_t watermark_us = before.back().watermark_us.value();
    std::int64_t next = first_frame_after(watermark_us, traces.description());

    std::vector<source_block> resumed(sample_block first, bool repeats) const {
        return sorted({std::move(first)}, {0, 1, 2, 3}, {{watermark_us, repeats}});
    }
};

TEST(SortedSamples, CountEveryFrameThatWasLostWithASession) {
    const interrupted_example from;
    EXPECT_GT(from.next, 60'000 - 30 * 5);
    EXPECT_LT(from.next, 60'000);
    EXPECT_EQ(from.next % 30, 0);
    const std::vector<source_block> got = from.resumed(from.block(90'000, 150'000), false);
    EXPECT_EQ(got[0].missing, static_cast<std::uint64_t>(90'000 - from.next));
    EXPECT_FALSE(got[0].begins_epoch);
    EXPECT_EQ(sorted_example::spikes_in(got), from.spikes_of(90'000, 150'000));
    const std::vector<source_block> again = from.resumed(from.block(0, 60'000), false);
    EXPECT_TRUE(again[0].begins_epoch);
    EXPECT_EQ(again[0].missing, 0U);
}

TEST(SortedSamples, GoOnExactlyWhereARecordingWasInterrupted) {
    const interrupted_example from;
    const std::int64_t first = from.next - 30'000;
    const std::vector<source_block> after = from.resumed(from.block(first, 150'000), true);
    std::vector<spike_event> all = sorted_example::spikes_in(from.before);
    const std::vector<spike_event> rest = sorted_example::spikes_in(after);
    ASSERT_GT(rest.size(), 50U);
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(all, from.spikes_of(0, 150'000));
    EXPECT_EQ(after[0].missing, 0U);
}

TEST(SortedSamples, KnowTheirChannels) {
    const sorted_example from;
    sample_block block = from.block(0, 60'000);
    const std::size_t channels = from.traces.channel_count();
    for (std::size_t f = 0; f < 60'000; ++f) {
        block.counts[f * channels + 2] = 5;
        if (f >= 3'000 && f < 3'600) block.counts[f * channels + 4] = 32'767;
    }
    const std::vector<std::size_t> all{0, 1, 2, 3};
    sorted_samples sorted(
        std::make_unique<given_samples>(from.traces.description(),
                                        std::vector<sample_block>{std::move(block)}),
        from.set, all, motion_model::automatic);
    while (sorted.next()) {
    }
    const sampling_state state = sorted.sampling().value();
    EXPECT_EQ(state.channels.at(2).constant, 60'000U);
    EXPECT_EQ(state.channels.at(4).at_limit, 600U);
    EXPECT_EQ(state.channels.at(0).constant, 0U);
    ASSERT_EQ(state.warnings.size(), 3U);
    EXPECT_NE(state.warnings[0].find("1 of 8 channels stand at the limit"), std::string::npos);
    EXPECT_NE(state.warnings[1].find("1 of 8 channels never change"), std::string::npos);
    EXPECT_GT(state.unexplained, 0U);  // steps to the limit and back
    EXPECT_NE(state.warnings[2].find("explained by no template"), std::string::npos);
}

TEST(SortedSamples, BeginAgainWithTheClock) {
    const sorted_example from;
    sample_block again = from.block(0, 60'000);
    again.begins_epoch = true;
    const std::vector<source_block> got = from.sorted({from.block(30'000, 90'000), again});
    const auto epoch = std::ranges::find_if(got, &source_block::begins_epoch);
    ASSERT_NE(epoch, got.end());
    EXPECT_EQ(sorted_example::spikes_in({got.begin(), epoch}), from.spikes_of(30'000, 90'000));
    EXPECT_EQ(sorted_example::spikes_in({epoch, got.end()}), from.spikes_of(0, 60'000));
}

}  // namespace
}  // namespace spikeweave::live
