#include "spikeweave/record/sample_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace spikeweave::record {
namespace {

const std::vector<recording_channel> four{
    {.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}};

// Noise on the first channel, which is cut at 300; the second one rests for a while; the third one
// never changes; the fourth one has the samples of the first.
std::vector<std::int16_t> faulty_samples() {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 120);
    std::vector<std::int16_t> out;
    for (int frame = 0; frame < 30'000; ++frame) {
        const bool is_cut = frame % 1'000 < 20;
        const auto a =
            static_cast<std::int16_t>(is_cut ? 300 : std::clamp(noise(random), -300.0, 299.0));
        const bool rests = frame >= 10'000 && frame < 13'000;
        const auto b = static_cast<std::int16_t>(rests ? 0 : noise(random));
        out.insert(out.end(), {a, b, 7, a});
    }
    return out;
}

TEST(SampleFacts, AreTheSameInPiecesOfAnySize) {
    const std::vector<std::int16_t> samples = faulty_samples();
    std::mt19937 random(5);
    std::vector<std::string> first;
    for (const bool in_pieces : {false, true}) {
        sample_facts facts(4, 30'000);
        for (std::size_t at = 0; at < samples.size();) {
            const std::size_t left = samples.size() - at;
            const std::size_t count = in_pieces ? std::min(left, 4 * (1 + random() % 90)) : left;
            facts.take(std::span{samples}.subspan(at, count));
            at += count;
        }
        facts.end_piece();
        facts.end_piece();  // changes nothing
        EXPECT_EQ(facts.frames(), 30'000U);
        EXPECT_EQ(facts.channels()[0].at_limit(), 600U);
        EXPECT_EQ(facts.channels()[1].steady, 3'000U);
        EXPECT_EQ(facts.channels()[2].steady, 30'000U);
        const std::vector<std::string> warnings = facts.all_warnings(four);
        if (!in_pieces) first = warnings;
        EXPECT_EQ(warnings, first);
    }
    ASSERT_EQ(first.size(), 4U);
    EXPECT_NE(first[0].find("2 of 4 channels stand at the limit"), std::string::npos) << first[0];
    EXPECT_NE(first[1].find("b (10 %)"), std::string::npos) << first[1];
    EXPECT_NE(first[2].find("d as a"), std::string::npos) << first[2];
    EXPECT_NE(first[3].find("1 of 4 channels never change, as if they were not connected: c."),
              std::string::npos)
        << first[3];
}

TEST(SampleFacts, SayNothingOfGoodChannels) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 120);
    std::vector<std::int16_t> samples(40'000);
    for (std::int16_t& sample : samples) sample = static_cast<std::int16_t>(noise(random));
    sample_facts facts(4, 30'000);
    facts.take(samples);
    facts.end_piece();
    EXPECT_TRUE(facts.all_warnings(four).empty());
}

}  // namespace
}  // namespace spikeweave::record
