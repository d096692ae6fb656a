#include "live/sources/learned_samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"
#include "spikeweave/simulate/recording.hpp"
#include "support/error_text.hpp"
#include "support/learned_templates.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t frames_in_block = 300;

// Blocks of a recording that arrive by themselves: what nobody takes in time is lost.
class arriving_samples : public sample_stream {
public:
    explicit arriving_samples(const recording& from, std::int64_t gap_after = INT64_MAX)
        : from_(from), gap_after_(gap_after) {}

    const recording_description& description() const override { return from_.description(); }
    std::optional<sample_block> next() override {
        const auto end = static_cast<std::int64_t>(from_.frame_count());
        if (at_ >= end) return {};
        sample_block out{.first = at_};
        if (at_ >= std::exchange(gap_after_, at_ >= gap_after_ ? INT64_MAX : gap_after_)) {
            out.first += frames_in_block;
            out.missing = frames_in_block;
        }
        out.counts.resize(static_cast<std::size_t>(std::min(frames_in_block, end - out.first)) *
                          from_.channel_count());
        from_.read(static_cast<std::uint64_t>(out.first), out.counts);
        at_ = out.first + frames_in_block;
        ++given;
        return out;
    }
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override {
        return std::chrono::steady_clock::now();
    }

    std::atomic<int> given = 0;

private:
    const recording& from_;
    std::int64_t gap_after_;
    std::int64_t at_ = 0;
};

struct learning_example {
    recording traces =
        simulate_recording({.channels = 8, .length = 10s, .units = 4, .low_hz = 10, .seed = 21})
            .traces;
    template_set set = *sort_whole(traces, true).learned;

    std::vector<source_block> all_of(source& from) const {
        std::vector<source_block> out;
        while (auto got = from.next())
            if (!(*got == source_block{})) out.push_back(std::move(*got));
        return out;
    }
    std::vector<source_block> given_templates(std::unique_ptr<sample_stream> samples) const {
        const std::vector<std::size_t> used{0, 2, 3};
        sorted_samples from(std::move(samples), set, used, motion_model::automatic);
        return all_of(from);
    }
};

std::vector<spike_event> spikes_in(const std::vector<source_block>& blocks) {
    std::vector<spike_event> out;
    for (const source_block& each : blocks)
        out.insert(out.end(), each.spikes.begin(), each.spikes.end());
    return out;
}

TEST(LearnedSamples, HaveTheSpikesOfASourceWithTheTemplates) {
    const learning_example from;
    for (const std::int64_t gap_after : {INT64_MAX, std::int64_t{30'000}, std::int64_t{200'000}}) {
        auto stream = std::make_unique<arriving_samples>(from.traces, gap_after);
        const std::atomic<int>& given = stream->given;
        const int blocks = gap_after == INT64_MAX ? 1'000 : 999;
        std::vector<std::string> told;
        std::uint64_t learned_frames = 0;
        std::int16_t first_after_gap = 0;
        // All samples arrive while units are learned.
        const auto learn = [&](const recording& first, const std::stop_token&) {
            learned_frames = first.frame_count();
            std::vector<std::int16_t> frame(8);
            first.read(30'000, frame);
            first_after_gap = frame[0];
            while (given < blocks) std::this_thread::sleep_for(1ms);
            return learned_units{.set = from.set, .used = {0, 2, 3}, .warnings = {"A warning."}};
        };
        learned_samples learned(std::make_unique<kept_samples>(std::move(stream)),
                                {2s, motion_model::automatic, learn,
                                 [&](std::string_view sentence) { told.emplace_back(sentence); }},
                                {});
        EXPECT_TRUE(learned.unit_names().empty());
        EXPECT_EQ(learned.learned(), nullptr);
        std::vector<source_block> got = from.all_of(learned);
        ASSERT_FALSE(got.empty());
        EXPECT_EQ(got.front(), (source_block{.new_units = {"1", "3", "4"}}));
        got.erase(got.begin());
        EXPECT_EQ(got,
                  from.given_templates(std::make_unique<arriving_samples>(from.traces, gap_after)));
        ASSERT_GT(spikes_in(got).size(), 200U);
        EXPECT_EQ(learned_frames, 60'000U);
        std::vector<std::int16_t> frame(8);
        from.traces.read(gap_after == 30'000 ? 30'300 : 30'000, frame);
        EXPECT_EQ(first_after_gap, frame[0]);
        EXPECT_EQ(archive_of(*learned.learned()), archive_of(from.set));
        const sampling_state state = learned.sampling().value();
        EXPECT_EQ(state.warnings.at(0), "A warning.");
        EXPECT_EQ(state.most_behind_s, 0);  // what waits is meant to
        ASSERT_EQ(told.size(), 2U);
        EXPECT_NE(told[0].find("first 2 s of samples"), std::string::npos);
        EXPECT_EQ(told[1], "4 units were learned, 3 used; the samples that have waited are sorted");
    }
}

// A stream whose channels and rate are known from its first frame only.
class described_later : public arriving_samples {
public:
    using arriving_samples::arriving_samples;

    const recording_description& description() const override {
        return given > 0 ? arriving_samples::description() : unknown_;
    }
    std::optional<sample_block> next() override {
        return std::exchange(silence_, silence_ - 1) > 0 ? sample_block{}
                                                         : arriving_samples::next();
    }

private:
    int silence_ = 3;
    recording_description unknown_{};
};

TEST(LearnedSamples, WaitForTheFirstFrame) {
    const learning_example from;
    const auto learn = [&](const recording& first, const std::stop_token&) {
        EXPECT_EQ(first.rate_hz(), 30'000);
        EXPECT_EQ(first.frame_count(), 30'000U);
        EXPECT_EQ(first.channels()[0].name, "named");
        return learned_units{from.set, {0}, {}};
    };
    int described = 0;
    const auto name = [&](recording_description of) {
        ++described;
        of.channels[0].name = "named";
        return of;
    };
    learned_samples learned(
        std::make_unique<kept_samples>(std::make_unique<described_later>(from.traces), name),
        {1s, motion_model::automatic, learn, {}}, {});
    EXPECT_GT(spikes_in(from.all_of(learned)).size(), 50U);
    EXPECT_EQ(described, 1);
    EXPECT_EQ(learned.sampling()->channels[0].name, "named");
}

TEST(LearnedSamples, LearnFromWhatThereIs) {
    const learning_example from;
    std::uint64_t frames = 0;
    learned_samples learned(
        std::make_unique<kept_samples>(std::make_unique<arriving_samples>(from.traces)),
        {60s,
         motion_model::automatic,
         [&](const recording& first, const std::stop_token&) {
             frames = first.frame_count();
             return learned_units{from.set, {1}, {}};
         },
         {}},
        {});
    EXPECT_GT(spikes_in(from.all_of(learned)).size(), 50U);
    EXPECT_EQ(frames, 300'000U);
}

TEST(LearnedSamples, EndWithAStop) {
    const learning_example from;
    std::stop_source stop;
    bool has_stopped = false;
    {
        learned_samples learned(
            std::make_unique<kept_samples>(std::make_unique<arriving_samples>(from.traces)),
            {1s,
             motion_model::automatic,
             [&](const recording&, const std::stop_token& stops) -> learned_units {
                 while (!stops.stop_requested()) std::this_thread::sleep_for(1ms);
                 has_stopped = true;
                 throw cancelled();
             },
             {}},
            stop.get_token());
        for (int block = 0; block < 101; ++block) EXPECT_EQ(learned.next(), source_block{});
        EXPECT_NE(learned.sampling()->warnings.at(0).find("1 of the 1 s"), std::string::npos);
        stop.request_stop();
        EXPECT_FALSE(learned.next());
    }
    EXPECT_TRUE(has_stopped);
}

TEST(LearnedSamples, HaveTheErrorsOfLearningAndOfTheirStream) {
    class failing : public arriving_samples {
    public:
        failing(const recording& from, int good) : arriving_samples(from), good_(good) {}
        std::optional<sample_block> next() override {
            if (given == good_) throw io_error("the cable is out");
            return arriving_samples::next();
        }

    private:
        int good_;
    };
    const learning_example from;
    const auto error_after = [&](int good, const auto& learn) {
        learned_samples learned(
            std::make_unique<kept_samples>(std::make_unique<failing>(from.traces, good)),
            {1s, motion_model::automatic, learn, {}}, {});
        return text_of([&] { from.all_of(learned); });
    };
    const auto fine = [&](const recording&, const std::stop_token&) {
        return learned_units{from.set, {0}, {}};
    };
    for (const int good : {0, 50, 100, 300, 999})
        EXPECT_EQ(error_after(good, fine), "the cable is out") << good;
    EXPECT_EQ(error_after(2'000,
                          [](const recording&, const std::stop_token&) -> learned_units {
                              throw invalid_argument("there are no units");
                          }),
              "there are no units");
}

}  // namespace
}  // namespace spikeweave::live
