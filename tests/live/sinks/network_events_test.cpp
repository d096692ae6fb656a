#include "live/sinks/receivers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "live/network/zeromq.hpp"

namespace spikeweave::live {
namespace {

using steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct request {
    std::string text;
    steady::time_point time;
};

// Answers as the plugin Network Events does. tests/interop/live_sinks_test.py has one that was
// compared with a client of others.
std::string answer_of(const std::string& text) {
    int line = 0;
    int state = 0;
    if (std::sscanf(text.c_str(), "TTL Line=%d State=%d", &line, &state) == 2)
        return fmt::format("TTLHandled: Channel={} on={}", line, state);
    return "NotHandled";
}

class plugin {
public:
    // An empty answer is none.
    using answerer = std::function<std::string(const std::string&)>;

    explicit plugin(answerer answer = answer_of, const std::string& address = "tcp://127.0.0.1:*")
        : answer_(std::move(answer)),
          context_(make_zeromq_context()),
          socket_(make_zeromq_socket(context_, ZMQ_ROUTER)) {
        EXPECT_EQ(zmq_bind(socket_.get(), address.c_str()), 0) << zeromq_error();
        std::array<char, 64> bound{};
        std::size_t size = bound.size();
        zmq_getsockopt(socket_.get(), ZMQ_LAST_ENDPOINT, bound.data(), &size);
        address_ = bound.data();
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }

    const std::string& address() const { return address_; }
    std::vector<request> requests() const {
        const std::lock_guard lock(mutex_);
        return requests_;
    }
    std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const request& one : requests()) all.push_back(one.text);
        return all;
    }

private:
    void serve(const std::stop_token& stop) {
        zeromq_message message;
        while (!stop.stop_requested()) {
            zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
            if (zmq_poll(&item, 1, 10) <= 0 || !message.receive(socket_, address_)) continue;
            const auto frames = message.frames();
            ASSERT_EQ(frames.size(), 3U);
            EXPECT_EQ(frames[1], "");
            const std::string text(frames[2]);
            {
                const std::lock_guard lock(mutex_);
                requests_.push_back({text, steady::now()});
            }
            const std::string answer = answer_(text);
            if (answer.empty()) continue;
            zmq_send(socket_.get(), frames[0].data(), frames[0].size(), ZMQ_SNDMORE);
            zmq_send(socket_.get(), "", 0, ZMQ_SNDMORE);
            zmq_send(socket_.get(), answer.data(), answer.size(), 0);
        }
    }

    answerer answer_;
    zeromq_context context_;
    zeromq_socket socket_;
    std::string address_{};
    mutable std::mutex mutex_{};
    std::vector<request> requests_{};
    std::jthread thread_{};
};

destination ttl(const std::string& address) {
    return {.kind = destination_kind::open_ephys_ttl, .address = address, .line = 3};
}

void detect(reaction& by, std::size_t episode = 0) {
    const std::vector<std::int64_t> times{1'000, 2'500, 4'000};
    by.take(detection{.armed = episode, .begin_us = 1'000, .end_us = 4'000, .times_us = times});
}

bool wait_until(const std::function<bool()>& is_so) {
    const auto end = steady::now() + std::chrono::seconds(20);
    while (!is_so() && steady::now() < end) std::this_thread::sleep_for(milliseconds(1));
    return is_so();
}

const std::string line_is_high = "TTL Line=3 State=1";
const std::string line_is_low = "TTL Line=3 State=0";

TEST(NetworkEvents, PulsesALine) {
    const plugin gui;
    const auto report = std::make_shared<delivery_report>("ttl");
    destination to = ttl(gui.address());
    to.episode = 2;
    to.pulse = milliseconds(30);
    const auto pulses = network_events(to, report);
    for (const std::size_t episode : {2U, 1U, 2U}) detect(*pulses, episode);
    pulses->take(session_ended{{}});

    const auto requests = gui.requests();
    ASSERT_EQ(gui.texts(),
              (std::vector<std::string>{line_is_high, line_is_low, line_is_high, line_is_low}));
    for (const std::size_t i : {0U, 2U})
        EXPECT_GE(requests[i + 1].time - requests[i].time, milliseconds(30));
    EXPECT_EQ(report->delivered(), 2U);
    EXPECT_FALSE(report->has_trouble());
}

TEST(NetworkEvents, WritesMessages) {
    const plugin gui;
    const auto report = std::make_shared<delivery_report>("message");
    const auto messages = network_events(
        {.kind = destination_kind::open_ephys_message, .address = gui.address()}, report);
    detect(*messages, 7);
    messages->take(session_ended{{}});
    EXPECT_EQ(gui.texts(), (std::vector<std::string>{"spikeweave episode=7 t_us=1000,4000"}));
    EXPECT_EQ(report->delivered(), 1U);
}

TEST(NetworkEvents, CountsWhatWasNotConfirmed) {
    // An old plugin has other words, so it sets line 1 to 0.
    const plugin gui([](const std::string&) { return "TTLHandled: Channel=1 on=0"; });
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto pulses = network_events(ttl(gui.address()), report);
    detect(*pulses);
    detect(*pulses);
    pulses->take(session_ended{{}});
    EXPECT_EQ(report->delivered(), 0U);
    EXPECT_EQ(report->lost(), 2U);
    EXPECT_EQ(report->reason(), "the answer was 'TTLHandled: Channel=1 on=0'");
}

TEST(NetworkEvents, SetsALineToZeroThatMayStillBeHigh) {
    std::atomic<bool> is_silent{true};
    const plugin gui([&](const std::string& text) { return is_silent ? "" : answer_of(text); });
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto pulses = network_events(ttl(gui.address()), report);
    detect(*pulses);
    ASSERT_TRUE(wait_until([&] { return report->lost() == 1; }));
    EXPECT_EQ(gui.texts().front(), line_is_high);
    is_silent = false;
    ASSERT_TRUE(wait_until([&] { return gui.texts().back() == line_is_low; }));
    detect(*pulses);
    pulses->take(session_ended{{}});
    const auto texts = gui.texts();
    EXPECT_EQ(std::vector(texts.end() - 3, texts.end()),
              (std::vector{line_is_low, line_is_high, line_is_low}));
    EXPECT_EQ(report->delivered(), 1U);
    EXPECT_EQ(report->lost(), 1U);
}

TEST(NetworkEvents, SendNothingLate) {
    std::atomic<bool> is_silent{true};
    const plugin gui(
        [&](const std::string& text) { return is_silent.exchange(false) ? "" : answer_of(text); });
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto pulses = network_events(ttl(gui.address()), report);
    detect(*pulses);
    detect(*pulses);
    pulses->take(session_ended{{}});
    EXPECT_EQ(report->lost(), 2U);
    EXPECT_EQ(report->reason(), "detections waited for a second");
    EXPECT_EQ(gui.texts(), (std::vector{line_is_high, line_is_low}));
}

// Each waiting detection once waited for the line to be set to 0.
TEST(NetworkEvents, EndSoonIfThePluginNeverAnswers) {
    const plugin gui([](const std::string&) { return ""; });
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto pulses = network_events(ttl(gui.address()), report);
    for (int k = 0; k < 60; ++k) detect(*pulses);
    ASSERT_TRUE(wait_until([&] { return report->lost() > 0; }));
    const auto began = std::chrono::steady_clock::now();
    pulses->take(session_ended{{}});
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
    EXPECT_EQ(report->lost(), 60U);
    EXPECT_EQ(gui.texts().back(), line_is_low);
}

TEST(NetworkEvents, ConnectsAgain) {
    auto gui = std::make_unique<plugin>();
    const std::string address = gui->address();
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto pulses = network_events(ttl(address), report);
    detect(*pulses);
    ASSERT_TRUE(wait_until([&] { return report->delivered() == 1; }));
    gui.reset();
    detect(*pulses);
    ASSERT_TRUE(wait_until([&] { return report->lost() == 1; }));
    gui = std::make_unique<plugin>(answer_of, address);
    // Pulses that would come too late are not sent.
    ASSERT_TRUE(wait_until([&] {
        detect(*pulses);
        std::this_thread::sleep_for(milliseconds(100));
        return report->delivered() > 1;
    }));
    pulses->take(session_ended{{}});
    const auto texts = gui->texts();
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(texts.begin(), texts.end(), line_is_high)),
              report->delivered() - 1);
    EXPECT_EQ(texts.back(), line_is_low);
}

TEST(NetworkEvents, NeitherWaitForAPluginThatIsNotThereNorForget) {
    const auto report = std::make_shared<delivery_report>("ttl");
    constexpr int detections = 200;
    {
        const auto pulses = network_events(ttl("tcp://127.0.0.1:9"), report);
        const auto begin = steady::now();
        for (int i = 0; i < detections; ++i) detect(*pulses);
        EXPECT_LT(steady::now() - begin, milliseconds(500));
        ASSERT_TRUE(wait_until([&] { return report->has_trouble(); }));
        pulses->take(session_ended{{}});
        EXPECT_LT(steady::now() - begin, std::chrono::seconds(10));
    }
    EXPECT_EQ(report->lost(), static_cast<std::uint64_t>(detections));
    EXPECT_EQ(report->delivered(), 0U);
}

TEST(NetworkEvents, EndWithoutTheEndOfTheSession) {
    const plugin gui;
    const auto report = std::make_shared<delivery_report>("ttl");
    const auto begin = steady::now();
    {
        destination to = ttl(gui.address());
        to.pulse = milliseconds(100);
        const auto pulses = network_events(to, report);
        for (int i = 0; i < 50; ++i) detect(*pulses);
        ASSERT_TRUE(wait_until([&] { return !gui.requests().empty(); }));
    }
    EXPECT_LT(steady::now() - begin, std::chrono::seconds(4));
    EXPECT_EQ(gui.texts().back(), line_is_low);
}

}  // namespace
}  // namespace spikeweave::live
