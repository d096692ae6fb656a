#include "live/sources/sorted_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
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
                                     const std::vector<std::size_t>& used = {0, 1, 2, 3}) const {
        sorted_samples from(
            std::make_unique<given_samples>(traces.description(), std::move(blocks)), set, used);
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
            expected.push_back({spike.time_us, unit_id{to_index(spike.unit) / 2}});
    ASSERT_GT(expected.size(), 20U);
    EXPECT_EQ(sorted_example::spikes_in(from.sorted({from.block(0, 60'000)}, {1, 3})), expected);
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
