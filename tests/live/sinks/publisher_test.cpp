#include "live/sinks/receivers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "live/network/zeromq.hpp"
#include "spikeweave/core/error.hpp"
#include "support/error_text.hpp"

namespace spikeweave::live {
namespace {

using frames = std::vector<std::string>;

// A port that is free, as the system says.
std::string free_address() {
    const zeromq_context context = make_zeromq_context();
    const zeromq_socket socket = make_zeromq_socket(context, ZMQ_PUB);
    EXPECT_EQ(zmq_bind(socket.get(), "tcp://127.0.0.1:*"), 0);
    std::array<char, 64> bound{};
    std::size_t size = bound.size();
    zmq_getsockopt(socket.get(), ZMQ_LAST_ENDPOINT, bound.data(), &size);
    return bound.data();
}

class subscriber {
public:
    subscriber(const std::string& address, const std::string& topic)
        : context_(make_zeromq_context()), socket_(make_zeromq_socket(context_, ZMQ_SUB)) {
        constexpr int few_bytes = 4096;
        set_zeromq_option(socket_, ZMQ_RCVHWM, 1);
        set_zeromq_option(socket_, ZMQ_RCVBUF, few_bytes);
        zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, topic.data(), topic.size());
        EXPECT_EQ(zmq_connect(socket_.get(), address.c_str()), 0);
    }
    // Empty if none comes within this time.
    frames next(long wait_ms = 5'000) {
        zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, wait_ms) <= 0 || !message_.receive(socket_, "")) return {};
        const auto views = message_.frames();
        return {views.begin(), views.end()};
    }
    // Takes lines until it is known to be subscribed.
    void join(line_output& from) {
        while (next(20).empty()) from.take("join", "\n");
        while (!next(20).empty()) {
        }
    }

private:
    zeromq_context context_;
    zeromq_socket socket_;
    zeromq_message message_{};
};

TEST(Publisher, SendsLinesByTypeWithTheirNumbers) {
    const std::string address = free_address();
    const auto report = std::make_shared<delivery_report>("zmq");
    const auto lines = zeromq_publisher(address, report);
    subscriber to(address, "");
    to.join(*lines);

    lines->take("detection", "{1}\n");
    lines->take("window", "{2}\n");
    lines->take("detection", "{3}\n");

    EXPECT_EQ(to.next(), (frames{"detection", "{1}", "0"}));
    EXPECT_EQ(to.next(), (frames{"window", "{2}", "0"}));
    EXPECT_EQ(to.next(), (frames{"detection", "{3}", "1"}));
    EXPECT_EQ(report->lost(), 0U);
}

TEST(Publisher, NeitherWaitsForASlowSubscriberNorLetsOthersLoseAnything) {
    const std::string address = free_address();
    const auto report = std::make_shared<delivery_report>("zmq");
    // ZeroMQ looks only once in three million clock cycles at how much its subscribers have taken.
    // With 100, a fast one would be taken for a slow one.
    const auto lines = zeromq_publisher(address, report, 1'000);
    subscriber slow(address, "");
    slow.join(*lines);
    subscriber other(address, "detection");
    const std::string detection = "detection\n";
    while (other.next(20).empty()) lines->take("detection", detection);
    while (!other.next(100).empty() || !slow.next(100).empty()) {
    }
    const std::string window(50'000, 'w');

    std::size_t windows = 0;
    const auto send_both = [&] {
        lines->take("window", window);
        lines->take("detection", detection);
        ++windows;
        ASSERT_EQ(other.next().size(), 3U) << windows;
    };
    while (report->lost() == 0 && windows < 10'000) send_both();
    ASSERT_EQ(report->lost(), 1U);
    EXPECT_EQ(report->reason(), "a subscriber is too slow");
    // ZeroMQ may have made room for the message at its second attempt. These do not fit.
    for (int more = 0; more < 500; ++more) send_both();

    // The slow one gets what waits, and the numbers tell it what it lost.
    std::size_t received = 0;
    for (frames one = slow.next(500); !one.empty(); one = slow.next(500)) ++received;
    EXPECT_GT(received, 0U);
    EXPECT_LT(received, 2 * windows);
    lines->take("window", window);
    const frames last = slow.next();
    ASSERT_EQ(last.size(), 3U);
    EXPECT_EQ(last[2], std::to_string(windows));
}

TEST(Publisher, RefusesAPortThatIsInUse) {
    const std::string address = free_address();
    const auto report = std::make_shared<delivery_report>("zmq");
    const auto lines = zeromq_publisher(address, report);
    EXPECT_EQ(text_of([&] { zeromq_publisher(address, report); }),
              "cannot publish on " + address + ": Address already in use");
}

}  // namespace
}  // namespace spikeweave::live
