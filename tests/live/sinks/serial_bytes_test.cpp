#include "live/sinks/serial_bytes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "live/sinks/all_results.hpp"
#include "live/sources/arrivals.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/feed.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

// The other end of a serial device.
class pseudo_terminal {
public:
    pseudo_terminal() : descriptor_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
        EXPECT_EQ(::grantpt(descriptor_), 0);
        EXPECT_EQ(::unlockpt(descriptor_), 0);
        std::array<char, 64> name{};
        EXPECT_EQ(::ptsname_r(descriptor_, name.data(), name.size()), 0);
        path_ = name.data();
    }
    ~pseudo_terminal() { ::close(descriptor_); }
    pseudo_terminal(const pseudo_terminal&) = delete;
    pseudo_terminal& operator=(const pseudo_terminal&) = delete;

    const std::string& path() const { return path_; }
    speed_t speed() const {
        termios settings{};
        ::tcgetattr(descriptor_, &settings);
        return ::cfgetospeed(&settings);
    }
    /// What has come, once that many bytes have, or after ten seconds.
    std::string received(std::size_t expected) const {
        std::string all;
        std::array<char, 64> bytes{};
        for (int wait = 0; wait < 1000; ++wait) {
            const ssize_t got = ::read(descriptor_, bytes.data(), bytes.size());
            if (got > 0) all.append(bytes.data(), static_cast<std::size_t>(got));
            if (all.size() >= expected) break;
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        return all;
    }

private:
    int descriptor_;
    std::string path_{};
};

void detect_on(reaction& by, std::size_t episode) {
    const std::vector<std::int64_t> times{1, 2};
    by.take(detection{.armed = episode, .times_us = times});
}

destination device(const std::string& path) {
    return {.kind = destination_kind::serial, .address = path};
}

TEST(SerialBytes, SendsAByteForEachDetection) {
    const pseudo_terminal other;
    destination to = device(other.path());
    to.byte = '\n';  // not a terminal's line end
    to.baud = 9600;
    to.episode = 1;
    const auto report = std::make_shared<delivery_report>("x");
    serial_bytes bytes(to, report);
    EXPECT_EQ(other.speed(), speed_t{B9600});

    for (const std::size_t episode : {1U, 0U, 1U, 2U}) detect_on(bytes, episode);

    EXPECT_EQ(other.received(2), "\n\n");
    EXPECT_EQ(report->delivered(), 2U);
    EXPECT_FALSE(report->has_trouble());
}

TEST(SerialBytes, CountWhatADeviceThatVanishedDidNotTake) {
    auto other = std::make_unique<pseudo_terminal>();
    const auto report = std::make_shared<delivery_report>("x");
    serial_bytes bytes(device(other->path()), report);
    detect_on(bytes, 0);
    other.reset();
    for (int i = 0; i < 3; ++i) detect_on(bytes, 0);
    EXPECT_EQ(report->delivered(), 1U);
    EXPECT_EQ(report->lost(), 3U);
    EXPECT_TRUE(report->has_trouble());
    EXPECT_NE(report->reason(), "");
}

TEST(SerialBytes, OpensADeviceAgain) {
    auto other = std::make_unique<pseudo_terminal>();
    const auto report = std::make_shared<delivery_report>("x");
    const std::string path = ::testing::TempDir() + "spikeweave_serial_device";
    ::unlink(path.c_str());
    ASSERT_EQ(::symlink(other->path().c_str(), path.c_str()), 0);
    serial_bytes bytes(device(path), report);
    other.reset();
    detect_on(bytes, 0);
    EXPECT_EQ(report->lost(), 1U);
    const pseudo_terminal again;
    ::unlink(path.c_str());
    ASSERT_EQ(::symlink(again.path().c_str(), path.c_str()), 0);
    detect_on(bytes, 0);
    EXPECT_EQ(again.received(1), "\x01");
    EXPECT_EQ(report->delivered(), 1U);
    ::unlink(path.c_str());
}

TEST(SerialBytes, RefuseWhatIsNoDevice) {
    const auto refused = [](const std::string& path) {
        return text_of([&] { serial_bytes(device(path), std::make_shared<delivery_report>("x")); });
    };
    EXPECT_EQ(refused("/dev/none"), "cannot open /dev/none: No such file or directory");
    EXPECT_EQ(refused("/dev/null"), "cannot open /dev/null: it is no serial device");
}

// Counts what happens.
struct counted_events : sink {
    explicit counted_events(std::size_t& all) : count(&all) {}
    void take(const event& what) override {
        what.visit([this](const auto&) { ++*count; });
    }
    std::size_t* count;
};

TEST(AllResults, GiveAllThatHappensToEverySink) {
    std::size_t first = 0, second = 0;
    all_results results({}, 0);
    results.add(std::make_unique<counted_events>(first));
    results.add(std::make_unique<counted_events>(second));
    const std::vector<std::string> names{"a", "b"};
    const session_counts counts;
    results.take(units_added{names});
    results.take(spikes_accepted{});
    results.take(detection{});
    results.take(mined_window{});
    results.take(silent_range{});
    results.take(counts_in_window{});
    results.take(arming_change{});
    results.take(epoch_ended{});
    results.take(chance_rates{});
    results.take(block_ended{counts});
    results.take(session_ends{});
    results.take(armed_tallied{});
    results.take(session_ended{counts});
    EXPECT_EQ(first, 13U);
    EXPECT_EQ(second, 13U);
    EXPECT_EQ(results.units(), 2U);
}

TEST(AllResults, DoesNotActOnDetectionsOfThePast) {
    const pseudo_terminal other;
    const auto report = std::make_shared<delivery_report>("x");
    all_results results({}, 0);
    results.add_reaction(std::make_unique<serial_bytes>(device(other.path()), report));
    const std::vector<std::int64_t> times{1, 2};
    results.arriving().add({.spikes = {{0, {}}}}, std::chrono::steady_clock::now());
    results.hold_reactions(true);
    results.take(detection{.times_us = times});
    EXPECT_EQ(other.received(0), "");
    results.hold_reactions(false);
    results.take(detection{.times_us = times, .suppressed = suppression::hold_off});
    EXPECT_EQ(other.received(0), "") << "only triggers are acted upon";
    results.take(detection{.times_us = times});
    EXPECT_EQ(other.received(1), "\x01");
}

TEST(AllResults, DoNotActOnWhatCameTooLongAgo) {
    using clock = std::chrono::steady_clock;
    const pseudo_terminal other;
    const auto report = std::make_shared<delivery_report>("x");
    all_results results({}, 0);
    destination to = device(other.path());
    to.max_age = std::chrono::milliseconds{500};
    results.add_reaction(std::make_unique<serial_bytes>(to, report));
    results.arriving().add({.spikes = {{10, {}}, {5, {}}}}, clock::now() - to.max_age);
    results.arriving().add({.spikes = {{20, {}}}}, clock::now());
    for (const std::int64_t end_us : {5, 7, 10, 20, 30}) results.take(detection{.end_us = end_us});
    EXPECT_EQ(other.received(1), "\x01");
    EXPECT_EQ(report->delivered(), 1U);
    EXPECT_EQ(report->lost(), 4U);
    EXPECT_EQ(report->reason(), "spikes had come more than 500 ms before");
}

TEST(ArrivalBound, BelievesThatNothingWaitsOnlyAWhileAfterAnInterruption) {
    using std::chrono::milliseconds;
    arrival_bound bound;
    const auto begin = arrival_bound::clock::now();
    const auto since_after = [&](milliseconds time, bool nothing_waits) {
        bound.looked(nothing_waits, begin + time);
        bound.begin_read();
        return bound.since() - begin;
    };
    EXPECT_EQ(since_after(milliseconds{10}, true), milliseconds{10});
    EXPECT_EQ(since_after(milliseconds{20}, false), milliseconds{10});
    EXPECT_EQ(since_after(milliseconds{30}, true), milliseconds{30});
    EXPECT_EQ(since_after(milliseconds{5000}, true), milliseconds{30});
    EXPECT_EQ(since_after(milliseconds{5049}, true), milliseconds{30});
    EXPECT_EQ(since_after(milliseconds{5050}, false), milliseconds{30});
    EXPECT_EQ(since_after(milliseconds{5060}, true), milliseconds{5060});
}

// A program that gives a chain in each block, and pulses for what came in the last second.
class given_chains {
public:
    explicit given_chains(const pseudo_terminal& other) : feed_(options_for(other.path())) {}

    void wait_until_asked() {
        while (!feed_.wants_block()) look();
    }
    void give(std::int64_t time_us) {
        feed_.add({.times_us = {time_us, time_us + 1},
                   .units = {unit_id{0}, unit_id{1}},
                   .unit_names = {"a", "b"}});
    }
    live_result end() {
        wait_until_asked();
        feed_.end();
        while (!feed_.is_over()) look();
        return result_;
    }

private:
    static live_options options_for(const std::string& path) {
        live_options options;
        options.windows = false;
        options.armed = {{{"a", "b"}, {{duration{0}, duration{5}}}}};
        options.to = {"serial://" + path};
        return options;
    }
    void look() {
        const auto event = feed_.next(std::chrono::milliseconds{20});
        if (event && std::holds_alternative<live_result>(*event))
            result_ = std::get<live_result>(*event);
    }

    live_feed feed_;
    live_result result_{};
};

TEST(SerialBytes, AreSentAfterSilence) {
    const pseudo_terminal other;
    given_chains program(other);
    for (const std::int64_t time_us : {1, 1'000, 2'000}) {
        program.wait_until_asked();
        std::this_thread::sleep_for(std::chrono::milliseconds{1'300});
        program.give(time_us);
        program.wait_until_asked();
        program.give(time_us + 100);
    }
    EXPECT_EQ(program.end().undelivered, 0U);
    EXPECT_EQ(other.received(6).size(), 6U);
}

TEST(SerialBytes, AreNotSentForWhatWaitedInTheProgram) {
    const pseudo_terminal other;
    given_chains program(other);
    program.wait_until_asked();
    program.give(1);
    std::this_thread::sleep_for(std::chrono::milliseconds{1'300});
    program.wait_until_asked();
    program.give(1'000);
    EXPECT_EQ(program.end().undelivered, 1U);
    EXPECT_EQ(other.received(1).size(), 1U);
}

}  // namespace
}  // namespace spikeweave::live
