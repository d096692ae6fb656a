#include "live/sources/spikeglx_samples.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

using namespace std::chrono_literals;

// SpikeGLX with a probe of two channels on two shanks. The samples of a frame are its number and
// its negative.
class model_spikeglx : public spikeglx_bytes {
public:
    bool is_running = true;
    std::int64_t frames = 0;
    std::int64_t kept = 1000;
    std::string refuses{};  // a command, once
    std::vector<std::string> asked{};

    void send(std::string_view bytes) override {
        const std::string command(bytes.substr(0, bytes.find(' ')));
        asked.emplace_back(bytes.substr(0, bytes.size() - 1));
        if (command == std::exchange(refuses, command == refuses ? "" : refuses))
            answer_ = "ERROR " + command + ": Low mem.\n";
        else
            answer_ = command == "FETCH" ? fetched(asked.back()) : answer(asked.back()) + "\nOK\n";
        given_ = 0;
    }

    // In small pieces, as a network may deliver them.
    std::size_t receive(std::span<char> into) override {
        const std::size_t count = std::min({into.size(), answer_.size() - given_, std::size_t{7}});
        if (count == 0) throw spikeglx_broken("it has no more");
        std::memcpy(into.data(), answer_.data() + given_, count);
        given_ += count;
        return count;
    }

private:
    std::string answer(const std::string& command) const {
        const std::string name = command.substr(0, command.find_first_of(" \n"));
        if (name == "ISRUNNING") return is_running ? "1" : "0";
        if (name == "GETSTREAMNP") return "1";
        if (name == "GETSTREAMSAMPLERATE") return "1000.5";
        if (name == "GETSTREAMSAVECHANS") return "0 2 3 6";
        if (name == "GETSTREAMACQCHANS") return "3 3 1";
        if (name == "GETSTREAMVOLTAGERANGE") return "-0.62 0.62";
        if (name == "GETSTREAMMAXINT") return "2048";
        if (name == "GETIMECCHANGAINS") return "100 1";
        if (name == "GETSTREAMSAMPLECOUNT") return std::to_string(frames);
        if (name == "GETGEOMMAP")
            return "head_shankPitch=250\nch0_s=0\nch0_x=8\nch0_z=0\nch1_s=0\nch1_x=40\nch1_z=15\n"
                   "ch2_s=1\nch2_x=8\nch2_z=30";
        return "what?";
    }

    std::string fetched(const std::string& command) const {
        if (!is_running) return "ERROR FETCH: Not running or stream not enabled.\n";
        const std::size_t at = command.find(' ', command.find(' ', command.find(' ') + 1) + 1) + 1;
        const std::int64_t first = std::stoll(command.substr(at));
        if (first < frames - kept) return "ERROR FETCH: Too late.\n";
        const std::int64_t most = std::stoll(command.substr(command.find(' ', at)));
        const std::int64_t count = std::clamp<std::int64_t>(frames - first, 0, most);
        std::string out = fmt::format("BINARY_DATA 2 {} uint64({})\n", count, first);
        for (std::int64_t f = first; f < first + count; ++f)
            for (const std::int64_t value : {f, -f}) {
                const auto sample = static_cast<std::int16_t>(value);
                out.append(reinterpret_cast<const char*>(&sample), sizeof sample);
            }
        return out + "OK\n";
    }

    std::string answer_{};
    std::size_t given_ = 0;
};

class SpikeGlxSamples : public testing::Test {
protected:
    model_spikeglx server;
    spikeglx_client client{server};
    spikeglx_samples samples{"", {}};
    spikeglx_samples::clock::time_point now{1h};

    std::optional<sample_block> ask(std::chrono::milliseconds after = 1ms) {
        now += after;
        return samples.ask(client, now);
    }
};

sample_block frames_from(std::int64_t first, std::int64_t count) {
    sample_block out{.first = first};
    for (std::int64_t f = first; f < first + count; ++f) {
        out.counts.push_back(static_cast<std::int16_t>(f));
        out.counts.push_back(static_cast<std::int16_t>(-f));
    }
    return out;
}

TEST_F(SpikeGlxSamples, AreThoseFromNowOnOfTheSavedChannelsOfSpikes) {
    server.frames = 40;
    EXPECT_FALSE(ask());
    const recording_description& of = samples.description();
    EXPECT_EQ(of.rate_hz, 1000.5);
    ASSERT_EQ(of.channels.size(), 2U);
    EXPECT_EQ(of.channels[1].name, "AP2");
    EXPECT_EQ(of.channels[1].gain_uv, 1e6 * 0.62 / 2048 / 100);
    EXPECT_EQ(of.channels[1].x_um, 258);
    EXPECT_EQ(of.channels[1].y_um, 30);
    EXPECT_EQ(of.channels[1].shank, 1U);
    server.frames = 43;
    EXPECT_EQ(ask(), frames_from(40, 3));
    EXPECT_TRUE(samples.has_all());
    server.frames = 343;
    EXPECT_EQ(ask(), frames_from(43, 100));
    EXPECT_FALSE(samples.has_all());
    EXPECT_EQ(server.asked.back(), "FETCH 2 0 43 100 0#2# 1");
}

TEST_F(SpikeGlxSamples, OfARunThatBeginsLaterAreAll) {
    server.is_running = false;
    EXPECT_FALSE(ask());
    server.is_running = true;
    server.frames = 5;
    EXPECT_EQ(ask(200ms), frames_from(0, 5));
}

TEST_F(SpikeGlxSamples, CountWhatSpikeGlxNoLongerHas) {
    server.frames = 10;
    ask();
    server.frames = 20;
    ask();
    server.frames = 2000;
    EXPECT_FALSE(ask());
    server.frames = 2001;
    sample_block expected = frames_from(2000, 1);
    expected.missing = 1980;
    expected.has_left_out = true;
    EXPECT_EQ(ask(), expected);
}

TEST_F(SpikeGlxSamples, BeginAnEpochWithAnotherRun) {
    server.frames = 10;
    ask();
    server.frames = 20;
    ask();
    server.is_running = false;
    EXPECT_FALSE(ask());
    server.is_running = true;
    server.frames = 30;  // more than before, but another run
    sample_block expected = frames_from(0, 30);
    expected.begins_epoch = true;
    EXPECT_EQ(ask(200ms), expected);
    server.frames = 4;  // a third one, whose begin nobody saw
    EXPECT_FALSE(ask());
    expected = frames_from(0, 4);
    expected.begins_epoch = true;
    EXPECT_EQ(ask(300ms), expected);
}

// A connection that broke for 5 s: the run would have 5,002 frames more.
TEST_F(SpikeGlxSamples, KnowARunAgainByTheFramesThatItShouldHave) {
    server.kept = 10'000;
    server.frames = 10;
    ask();
    server.frames = 20;
    ask();
    spikeglx_samples of_same_run = samples;
    server.frames = 5'020;
    EXPECT_EQ(of_same_run.ask(client, now + 5s), frames_from(20, 100));
    server.frames = 2'000;
    sample_block expected = frames_from(0, 100);
    expected.begins_epoch = true;
    EXPECT_EQ(ask(5s), expected);
}

TEST_F(SpikeGlxSamples, CountARefusalOnceUntilFramesCome) {
    server.frames = 10;
    ask();
    server.frames = 20;
    server.refuses = "FETCH";
    EXPECT_EQ(ask(), sample_block{.unreadable = 1});
    EXPECT_EQ(samples.first_unreadable(), "SpikeGLX refuses a command: 'FETCH: Low mem.'");
    server.refuses = "FETCH";
    EXPECT_FALSE(ask());
    EXPECT_EQ(ask(), frames_from(10, 10));
    server.refuses = "FETCH";
    EXPECT_EQ(ask(), sample_block{.unreadable = 1});
}

TEST_F(SpikeGlxSamples, RefuseAProbeThatIsNotAsExpected) {
    const auto error = [&](const std::string& stream, recording_description of) {
        return text_of(
            [&] { static_cast<void>(spikeglx_samples(stream, std::move(of)).ask(client, now)); });
    };
    EXPECT_EQ(error("imec1", {}), "SpikeGLX has no probe imec1: it has imec0 to imec0");
    EXPECT_EQ(error("imec0", {.rate_hz = 30'000}),
              "SpikeGLX has 1000.5 samples a second, expected 30000, as the templates have");
    EXPECT_EQ(
        error("", {.channels = {{}, {}, {}}}),
        "SpikeGLX saves 2 channels of the band of spikes (AP), expected 3, as the templates "
        "have: choose the channels to save (Configure, Save) as for the file that was sorted");
    server.refuses = "GETGEOMMAP";
    EXPECT_EQ(error("", {}),
              "SpikeGLX does not describe its probe: 'GETGEOMMAP: Low mem.': is it older than "
              "release 20230425?");
}

}  // namespace
}  // namespace spikeweave::live
