#include "live/dashboard/dashboard_server.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>  // Boost 1.74 uses it without including it

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "live/network/http_server.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave::live {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class DashboardServer : public testing::Test {
protected:
    DashboardServer() {
        server_->serve({.page = "the page",
                        .page_policy = "default-src 'none'",
                        .session = [] { return std::string("{}"); },
                        .opening = [this] { return std::to_string(frames_) + " opening"; },
                        .frame =
                            [this] {
                                std::string frame = std::to_string(++frames_) + " ";
                                frame.resize(std::max(frame.size(), frame_bytes_.load()), '.');
                                return frame;
                            }});
        port_ = server_->port();
        const std::string address = server_->address();
        target_ = address.substr(address.find("/?"));
        own_ = fmt::format("127.0.0.1:{}", port_);
    }

    tcp::socket connected() {
        tcp::socket socket(context_);
        socket.connect({boost::asio::ip::address_v4::loopback(), port_});
        return socket;
    }

    using headers = std::map<std::string, std::string>;

    http::response<http::string_body> ask(const std::string& target, const headers& more = {},
                                          http::verb method = http::verb::get) {
        tcp::socket socket = connected();
        http::request<http::empty_body> request(method, target, 11);
        request.set(http::field::host, own_);
        for (const auto& [name, value] : more) request.set(name, value);
        http::write(socket, request);
        beast::flat_buffer buffer;
        http::response<http::string_body> response;
        http::read(socket, buffer, response);
        return response;
    }
    unsigned status(const std::string& target, const headers& more = {},
                    http::verb method = http::verb::get) {
        return ask(target, more, method).result_int();
    }

    std::string cookie() {
        const auto response = ask(target_);
        const std::string set(response[http::field::set_cookie]);
        return set.substr(0, set.find(';'));
    }

    using client = websocket::stream<tcp::socket>;

    // A client that was accepted; null if it was not.
    std::unique_ptr<client> open(const std::string& with_cookie) {
        auto made = std::make_unique<client>(connected());
        made->set_option(websocket::stream_base::decorator([&](websocket::request_type& request) {
            request.set(http::field::cookie, with_cookie);
            request.set(http::field::origin, "http://" + own_);
        }));
        boost::system::error_code error;
        made->handshake(own_, "/frames", error);
        return error ? nullptr : std::move(made);
    }
    std::unique_ptr<client> open() { return open(cookie()); }

    // The answer to a request for frames.
    unsigned upgraded(const headers& more, const std::string& target = "/frames") {
        headers all{{"Connection", "Upgrade"},
                    {"Upgrade", "websocket"},
                    {"Sec-WebSocket-Version", "13"},
                    {"Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg=="}};
        all.insert(more.begin(), more.end());
        return status(target, all);
    }

    static std::string read(client& from) {
        beast::flat_buffer buffer;
        from.read(buffer);
        return beast::buffers_to_string(buffer.data());
    }

    std::unique_ptr<dashboard_server> server_ = std::make_unique<dashboard_server>();
    std::atomic<int> frames_{0};
    std::atomic<std::size_t> frame_bytes_{0};
    boost::asio::io_context context_{};
    std::uint16_t port_ = 0;
    std::string target_{}, own_{};
};

TEST_F(DashboardServer, GivesThePageToWhoeverHasTheTokenAndThenTheCookie) {
    const auto response = ask(target_);
    EXPECT_EQ(response.result_int(), 200U);
    EXPECT_EQ(response.body(), "the page");
    EXPECT_EQ(response["Content-Security-Policy"], "default-src 'none'");
    EXPECT_EQ(response["Cache-Control"], "no-store");
    const std::string set(response[http::field::set_cookie]);
    EXPECT_NE(set.find("; HttpOnly; SameSite=Strict; Path=/"), std::string::npos);
    const std::string cookie = set.substr(0, set.find(';'));
    EXPECT_EQ(cookie.find(target_.substr(target_.find('=') + 1)), std::string::npos);

    EXPECT_EQ(status("/", {{"Cookie", cookie}}), 200U);
    EXPECT_EQ(status("/", {{"Cookie", "a=b; " + cookie + "; c=d"}}), 200U);
    EXPECT_EQ(ask("/session.json", {{"Cookie", cookie}}).body(), "{}");
    EXPECT_EQ(status("/other", {{"Cookie", cookie}}), 404U);
    EXPECT_EQ(status("/frames", {{"Cookie", cookie}}), 404U);
}

TEST_F(DashboardServer, HasATokenOf128BitsOfItsOwn) {
    EXPECT_EQ(target_.size(), std::string("/?token=").size() + 32);
    std::set<std::string> all;
    for (int i = 0; i < 20; ++i) {
        const std::string address = dashboard_server().address();
        all.insert(address.substr(address.find('=')));
    }
    EXPECT_EQ(all.size(), 20U);
}

TEST_F(DashboardServer, RefusesStrangers) {
    const std::string good = cookie();
    std::string wrong_token = target_;
    wrong_token.back() = wrong_token.back() == '0' ? '1' : '0';
    std::string wrong_cookie = good;
    wrong_cookie.back() = wrong_cookie.back() == '0' ? '1' : '0';
    for (const std::string& target :
         {std::string("/"), std::string("/?token="), wrong_token, target_ + "0",
          target_.substr(0, target_.size() - 1), std::string("/session.json")})
        EXPECT_EQ(status(target), 403U) << target;
    EXPECT_EQ(status("/", {{"Cookie", wrong_cookie}}), 403U);
    EXPECT_EQ(status("/", {{"Cookie", "x" + good}}), 403U);
    EXPECT_EQ(status("/", {{"Cookie", good + "0"}}), 403U);
    EXPECT_EQ(status("/", {{"Cookie", good.substr(0, good.find('=') + 1)}}), 403U);
    EXPECT_EQ(status(target_, {}, http::verb::post), 405U);
    EXPECT_EQ(status("/", {{"Cookie", good}}, http::verb::put), 405U);
}

TEST_F(DashboardServer, AnswersOnlyToItsOwnNames) {
    const std::string good = cookie();
    for (const std::string host : {"127.0.0.1", "localhost"})
        EXPECT_EQ(status(target_, {{"Host", fmt::format("{}:{}", host, port_)}}), 200U);
    for (const std::string host : {"evil.example", "127.0.0.1.evil.example", "127.0.0.1:1", ""})
        EXPECT_EQ(status(target_, {{"Host", host}, {"Cookie", good}}), 403U) << host;
    EXPECT_EQ(
        upgraded({{"Cookie", good}, {"Origin", "http://evil.example"}, {"Host", "evil.example"}}),
        403U);
}

TEST(HttpPlace, HasItsAddressAsItsName) {
    http_place place{.address = "192.168.1.20", .port = 8000};
    EXPECT_EQ(place.text(), "192.168.1.20:8000");
    EXPECT_TRUE(place.is_own_name("192.168.1.20:8000"));
    EXPECT_TRUE(place.is_own_name("192.168.1.20"));
    for (const std::string_view other : {"localhost:8000", "127.0.0.1:8000", "192.168.1.20:80",
                                         "192.168.1.20.evil.example:8000", ""})
        EXPECT_FALSE(place.is_own_name(other)) << other;
    place.address = "::1";
    EXPECT_EQ(place.text(), "[::1]:8000");
    EXPECT_TRUE(place.is_own_name("[::1]:8000"));
    EXPECT_TRUE(place.is_own_name("localhost:8000"));
    EXPECT_FALSE(place.is_own_name("::1:8000"));
}

TEST(HttpPlace, IsOfOneComputer) {
    EXPECT_TRUE(is_loopback("listen", "127.0.0.1"));
    EXPECT_TRUE(is_loopback("listen", "::1"));
    EXPECT_FALSE(is_loopback("listen", "192.168.1.20"));
    EXPECT_FALSE(is_loopback("listen", "fe80::1"));
    for (const std::string other :
         {"0.0.0.0", "::", "224.0.0.1", "lab.example", "192.168.1", "", "192.168.1.20:80", "[::1]"})
        EXPECT_THROW(is_loopback("listen", other), invalid_argument) << other;
}

TEST(DashboardNotice, TellsOfOtherComputers) {
    live_options options;
    EXPECT_EQ(dashboard_notice(options, "http://127.0.0.1:41653/?token=0"), "");
    options.dashboard_address = "192.168.1.20";
    const std::string notice = dashboard_notice(options, "http://192.168.1.20:41653/?token=0");
    EXPECT_NE(notice.find("unencrypted"), std::string::npos) << notice;
    EXPECT_NE(notice.find("ssh -L 41653:127.0.0.1:41653 HOST"), std::string::npos) << notice;
}

TEST_F(DashboardServer, IsAtTheAddressThatItIsGiven) {
    // Its port is free at every other address, unless another program has it: then once more.
    bool free_elsewhere = false;
    for (int attempt = 0; attempt < 8 && !free_elsewhere; ++attempt) {
        const dashboard_server other("127.0.0.2");
        EXPECT_TRUE(
            other.address().starts_with(fmt::format("http://127.0.0.2:{}/?", other.port())));
        tcp::socket elsewhere(context_, tcp::v4());
        boost::system::error_code error;
        elsewhere.bind({boost::asio::ip::address_v4::loopback(), other.port()}, error);
        free_elsewhere = !error;
    }
    EXPECT_TRUE(free_elsewhere);
    EXPECT_THROW(dashboard_server("203.0.113.77"), io_error);  // of no computer (RFC 5737)
}

TEST_F(DashboardServer, GivesFramesOnlyToItsOwnPage) {
    const std::string good = cookie();
    const std::string origin = "http://" + own_;
    EXPECT_EQ(upgraded({{"Cookie", good}, {"Origin", origin}}), 101U);
    EXPECT_EQ(upgraded({{"Origin", origin}}), 403U);
    EXPECT_EQ(upgraded({{"Cookie", "spikeweave=0"}, {"Origin", origin}}), 403U);
    EXPECT_EQ(upgraded({{"Cookie", good}, {"Origin", origin}}, "/"), 404U);
    EXPECT_EQ(upgraded({{"Cookie", good}}), 403U);
    const std::string other_name = fmt::format("localhost:{}", port_);
    for (const std::string& other : {std::string("null"), std::string("http://evil.example"),
                                     origin + "0", "https://" + own_, "http://" + other_name})
        EXPECT_EQ(upgraded({{"Cookie", good}, {"Origin", other}}), 403U) << other;
    EXPECT_EQ(
        upgraded({{"Cookie", good}, {"Origin", "http://" + other_name}, {"Host", other_name}}),
        101U);
}

TEST_F(DashboardServer, SendsBinaryFramesInTheirOrder) {
    const auto one = open();
    int before = 0;
    for (int i = 0; i < 5; ++i) {
        const int now = std::stoi(read(*one));
        EXPECT_TRUE(one->got_binary());
        EXPECT_GT(now, before);
        before = now;
    }
}

TEST_F(DashboardServer, ClosesAClientThatSends) {
    const auto one = open();
    one->write(boost::asio::buffer(std::string("hello")));
    EXPECT_THROW(
        {
            while (true) read(*one);
        },
        boost::system::system_error);
    EXPECT_EQ(one->reason().code, websocket::close_code::policy_error);

    const auto other = open();
    EXPECT_THROW(
        {
            // The server may have closed before all of it is written.
            other->write(boost::asio::buffer(std::string(5000, 'x')));
            while (true) read(*other);
        },
        boost::system::system_error);
    EXPECT_FALSE(read(*open()).empty());  // the others go on
}

TEST_F(DashboardServer, LimitsClientsAndHeaders) {
    const std::string good = cookie();
    std::vector<std::unique_ptr<client>> all;
    for (std::size_t i = 0; i < dashboard_server::most_clients; ++i) {
        all.push_back(open(good));
        ASSERT_TRUE(all.back());
    }
    const headers ours{{"Cookie", good}, {"Origin", "http://" + own_}};
    EXPECT_EQ(upgraded(ours), 503U);
    EXPECT_EQ(status("/", {{"Cookie", good}}), 200U);
    EXPECT_EQ(status("/", {{"Cookie", good}, {"Large", std::string(10'000, 'x')}}), 400U);

    all.pop_back();
    const auto deadline = steady::now() + 10s;
    while (upgraded(ours) != 101U) {
        ASSERT_LT(steady::now(), deadline);
        std::this_thread::sleep_for(10ms);
    }
}

TEST_F(DashboardServer, EndsARequestThatDoesNotCome) {
    tcp::socket slow = connected();
    boost::asio::write(slow, boost::asio::buffer(std::string("GET / HTTP/1.1\r\nHost:")));
    const auto begin = steady::now();
    char byte = 0;
    boost::system::error_code error;
    boost::asio::read(slow, boost::asio::buffer(&byte, 1), error);
    EXPECT_TRUE(error);
    EXPECT_LT(steady::now() - begin, 9s);
}

// Frames of a megabyte fill what a socket holds at once.
TEST_F(DashboardServer, LetsNobodyWaitForAStalledClient) {
    frame_bytes_ = 1'000'000;
    const auto stalled = open();
    const auto other = open();
    const int first = std::stoi(read(*other));
    int last = first;
    const auto begin = steady::now();
    while (last < first + 30) {
        last = std::stoi(read(*other));
        ASSERT_LT(steady::now() - begin, 15s);
    }
    // What waited for the stalled client is the newest frame, not all of them.
    const int now = frames_;
    int got = 0;
    while (std::stoi(read(*stalled)) < now) ++got;
    EXPECT_LT(got, 20);
}

TEST_F(DashboardServer, EndsWithClientsOfWhomOneIsStalled) {
    frame_bytes_ = 8'000'000;
    const auto stalled = open();
    while (frames_ < 5) std::this_thread::sleep_for(1ms);
    frame_bytes_ = 0;
    const auto other = open();
    read(*other);
    std::string last;
    std::thread reader([&] {
        try {
            while (true) last = read(*other);
        } catch (const boost::system::system_error&) {
        }
    });
    const auto begin = steady::now();
    server_.reset();
    EXPECT_LT(steady::now() - begin, 3s);
    reader.join();
    EXPECT_EQ(std::stoi(last), frames_);
    EXPECT_EQ(other->reason().code, websocket::close_code::normal);
}

}  // namespace
}  // namespace spikeweave::live
