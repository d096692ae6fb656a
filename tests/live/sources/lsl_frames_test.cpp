#include "live/sources/lsl_frames.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace spikeweave::live {
namespace {

constexpr double not_a_time = std::numeric_limits<double>::quiet_NaN();

// One channel at 1000 samples a second; a sample is its number.
class LslFrames : public testing::Test {
protected:
    lsl_frames frames{{}, 0};
    std::int16_t sent = 0;

    void SetUp() override { EXPECT_EQ(frames.begin(1, 1000, true), ""); }

    void send(const std::vector<double>& times_s) {
        std::vector<std::int16_t> counts;
        for (std::size_t i = 0; i < times_s.size(); ++i) counts.push_back(sent++);
        frames.take(counts, times_s);
    }

    void send(std::int16_t count, double from_s) {
        std::vector<double> times_s;
        for (std::int16_t i = 0; i < count; ++i) times_s.push_back(from_s + 0.001 * i);
        send(times_s);
    }
};

TEST_F(LslFrames, FollowEachOtherWhileTheirTimesTremble) {
    send({5.0, 5.001, 5.2, 4.9, not_a_time});
    EXPECT_EQ(frames.next(), (sample_block{.first = 0, .counts = {0, 1, 2, 3, 4}}));
    EXPECT_EQ(frames.description().begin, duration_from_seconds(5.0));
    send(1, 5.005);
    EXPECT_EQ(frames.next(), (sample_block{.first = 5, .counts = {5}}));
    EXPECT_FALSE(frames.next());
}

TEST_F(LslFrames, AreMissingWhereTimesLeap) {
    send(2, 5.0);
    send(2, 6.002);
    EXPECT_EQ(frames.next(), (sample_block{.first = 0, .counts = {0, 1}}));
    EXPECT_EQ(frames.next(), (sample_block{.missing = 1000, .first = 1002, .counts = {2, 3}}));
}

TEST_F(LslFrames, AreMissingAfterALossHoweverShortItWas) {
    frames.add_loss();  // before the first one, so that nobody knows of it
    send(2, 5.0);
    frames.add_loss();
    send(1, 5.005);
    frames.add_loss();
    send(1, 5.006);
    EXPECT_EQ(frames.next(), (sample_block{.first = 0, .counts = {0, 1}}));
    EXPECT_EQ(frames.next(), (sample_block{.missing = 3, .first = 5, .counts = {2}}));
    EXPECT_EQ(frames.next(), (sample_block{.missing = 1, .first = 7, .counts = {3}}));
}

TEST_F(LslFrames, BeginAnEpochWhereTimesGoBack) {
    send(2, 5.0);
    send(2, 3.0);
    EXPECT_EQ(frames.next(), (sample_block{.first = 0, .counts = {0, 1}}));
    EXPECT_EQ(frames.next(),
              (sample_block{.begins_epoch = true, .first = -2000, .counts = {2, 3}}));
}

// A clock that is 100 ppm faster is 2 s ahead after five hours, which is no loss.
TEST_F(LslFrames, FollowAClockThatDrifts) {
    constexpr int hours = 5;
    for (int second = 0; second < 3600 * hours; ++second) {
        std::vector<double> times_s;
        for (int i = 0; i < 1000; ++i) times_s.push_back(1.0001 * (second + 0.001 * i));
        sent = 0;
        send(times_s);
        const auto block = frames.next();
        ASSERT_TRUE(block);
        ASSERT_EQ(block->missing, 0U) << second;
        ASSERT_EQ(block->first, std::int64_t{1000} * second);
    }
}

TEST_F(LslFrames, OfMicrovoltsAreCounts) {
    lsl_frames of_microvolts{{}, 0};
    EXPECT_EQ(of_microvolts.begin(2, 1000, false), "");
    EXPECT_EQ(of_microvolts.description().channels[1].gain_uv, 0.1);
    of_microvolts.take(std::vector<float>{1.04F, -1, 1e9F, std::numeric_limits<float>::quiet_NaN()},
                       std::vector<double>{1, 1.001});
    EXPECT_EQ(of_microvolts.next(), (sample_block{.counts = {10, -10, 32767, 0}}));
}

TEST_F(LslFrames, OfAnotherRateOrOtherChannelsAreRefused) {
    recording_description of{.channels = {{}, {}}, .rate_hz = 30'000};
    EXPECT_EQ(lsl_frames(of, 0).begin(2, 20'000, true),
              "has 20000 samples a second, expected 30000, as the templates have");
    EXPECT_EQ(lsl_frames(of, 0).begin(3, 30'000.5, true),
              "has 3 channels, expected 2, as the templates have");
    EXPECT_EQ(lsl_frames({}, 0).begin(3, 0, true),
              "has no rate, expected samples with a regular one");
}

}  // namespace
}  // namespace spikeweave::live
