#include "live/dashboard/dashboard_server.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>  // Boost 1.74 uses it without including it

#include "live/network/http_server.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Who may see a dashboard: whoever has its token, and then the cookie that the token gives.
class dashboard_access {
public:
    /// Both secrets are 128 random bits. @throws io_error if the system has none.
    dashboard_access();

    const std::string& token() const { return token_; }
    /// Whether a path is `/?token=` and the token.
    bool has_token(std::string_view target) const;
    /// Whether one of the cookies of a request is that of this server.
    bool has_cookie(std::string_view cookies, std::uint16_t port) const;
    /// The header that sets it. Browsers share cookies among ports, so its name has the port.
    std::string cookie_header(std::uint16_t port) const;

private:
    std::string token_;
    std::string cookie_;
};

std::string random_secret() {
    std::array<unsigned char, 16> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0)
        throw io_error("the system has no random numbers for the token of the dashboard");
    return fmt::format("{:02x}", fmt::join(bytes, ""));
}

// The time that this takes does not depend on how much of a guess is right.
bool is_secret(std::string_view guess, std::string_view secret) {
    if (guess.size() != secret.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < secret.size(); ++i)
        difference |= static_cast<unsigned char>(guess[i]) ^ static_cast<unsigned char>(secret[i]);
    return difference == 0;
}

std::string cookie_name(std::uint16_t port) {
    return fmt::format("spikeweave-{}", port);
}

dashboard_access::dashboard_access() : token_(random_secret()), cookie_(random_secret()) {}

bool dashboard_access::has_token(std::string_view target) const {
    constexpr std::string_view before = "/?token=";
    return target.starts_with(before) && is_secret(target.substr(before.size()), token_);
}

bool dashboard_access::has_cookie(std::string_view cookies, std::uint16_t port) const {
    const std::string name = cookie_name(port) + "=";
    while (!cookies.empty()) {
        const std::size_t end = cookies.find(';');
        std::string_view one = cookies.substr(0, end);
        one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
        if (one.starts_with(name) && is_secret(one.substr(name.size()), cookie_)) return true;
        if (end == std::string_view::npos) break;
        cookies.remove_prefix(end + 1);
    }
    return false;
}

std::string dashboard_access::cookie_header(std::uint16_t port) const {
    return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(port), cookie_);
}

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t most_message_bytes = 1024;
constexpr std::chrono::seconds longest_handshake{5};
constexpr std::chrono::seconds longest_idle{20};
constexpr std::chrono::milliseconds frame_period{40};
constexpr std::chrono::seconds longest_end{1};

using shared_text = std::shared_ptr<const std::string>;
using any_request = http::request<http::empty_body>;

class frame_client;

struct dashboard_state {
    http_place place{};
    dashboard_access access{};
    dashboard_content content{};
    std::set<std::shared_ptr<frame_client>> clients{};
    bool is_ending = false;
};

// A client gets a frame when it has taken the one before; of those that come meanwhile, it gets the
// newest.
class frame_client : public std::enable_shared_from_this<frame_client> {
public:
    frame_client(tcp::socket&& socket, dashboard_state& what)
        : stream_(std::move(socket)), buffer_(most_message_bytes), what_(&what) {}

    void begin(const any_request& request) {
        stream_.set_option(websocket::stream_base::timeout{longest_handshake, longest_idle, true});
        stream_.read_message_max(most_message_bytes);
        stream_.binary(true);
        stream_.async_accept(request, [self = shared_from_this()](error_code error) {
            if (error) return self->leave();
            self->is_open_ = true;
            self->send(std::make_shared<const std::string>(self->what_->content.opening()));
            self->wait_for_end();
        });
    }

    void send(const shared_text& frame) {
        if (!is_open_ || is_closing_) return;
        next_ = frame;
        if (!is_writing_) write();
    }

    // Closes after the current frame and the newest one have been sent.
    void close() {
        is_ending_ = true;
        if (!is_open_)
            leave();
        else if (!is_writing_)
            close_now(websocket::close_code::normal);
    }

private:
    void write() {
        is_writing_ = true;
        sent_ = std::exchange(next_, nullptr);
        stream_.async_write(asio::buffer(*sent_),
                            [self = shared_from_this()](error_code error, std::size_t) {
                                self->is_writing_ = false;
                                if (error) return self->leave();
                                if (self->next_)
                                    self->write();
                                else if (self->is_ending_)
                                    self->close_now(websocket::close_code::normal);
                            });
    }

    // Only closing and answers to pings come from a client, and both are handled while it is read.
    void wait_for_end() {
        stream_.async_read(buffer_, [self = shared_from_this()](error_code error, std::size_t) {
            if (error)
                self->leave();
            else
                self->close_now(websocket::close_code::policy_error);
        });
    }

    void close_now(websocket::close_code why) {
        if (std::exchange(is_closing_, true)) return;
        stream_.async_close(why, [self = shared_from_this()](error_code) { self->leave(); });
    }

    void leave() {
        is_open_ = false;
        what_->clients.erase(shared_from_this());
        error_code ignored;
        static_cast<void>(beast::get_lowest_layer(stream_).socket().close(ignored));
    }

    websocket::stream<beast::tcp_stream> stream_;
    beast::flat_buffer buffer_;
    dashboard_state* what_;
    shared_text sent_{}, next_{};
    bool is_open_ = false, is_writing_ = false, is_ending_ = false, is_closing_ = false;
};

// A connection that asks for frames becomes a client.
class dashboard_connection : public http_connection {
public:
    dashboard_connection(tcp::socket&& socket, dashboard_state& what)
        : http_connection(std::move(socket), what.place), what_(&what) {}

private:
    bool respond() override {
        if (websocket::is_upgrade(request())) return respond_to_upgrade();
        respond_with_page();
        return false;
    }

    bool has_cookie() const {
        return what_->access.has_cookie(header(http::field::cookie), what_->place.port);
    }

    // Pages of other origins may open a WebSocket to this one, so a browser says where it is from.
    bool respond_to_upgrade() {
        const std::string_view origin = header(http::field::origin);
        constexpr std::string_view scheme = "http://";
        if (target() != "/frames")
            refuse(status::not_found, "there is only /frames\n");
        else if (!origin.starts_with(scheme) ||
                 origin.substr(scheme.size()) != header(http::field::host))
            refuse(status::forbidden, "pages of other origins get no frames\n");
        else if (!has_cookie())
            refuse_strangers();
        else if (what_->clients.size() >= dashboard_server::most_clients || what_->is_ending)
            refuse(status::service_unavailable, "no more clients are served\n");
        else {
            const auto client = std::make_shared<frame_client>(take_socket(), *what_);
            what_->clients.insert(client);
            client->begin(request());
            return true;
        }
        return false;
    }

    void respond_with_page() {
        const bool is_welcome = what_->access.has_token(target());
        if (!is_welcome && !has_cookie()) return refuse_strangers();
        if (is_welcome || target() == "/") {
            if (is_welcome)
                set(http::field::set_cookie, what_->access.cookie_header(what_->place.port));
            set("Content-Security-Policy", what_->content.page_policy);
            answer_with("text/html; charset=utf-8", what_->content.page);
        } else if (target() == "/session.json") {
            answer_with("application/json", what_->content.session());
        } else {
            refuse(status::not_found, "there is no such page\n");
        }
    }

    void refuse_strangers() {
        refuse(status::forbidden, "open the address that spikeweave printed: it has the token\n");
    }

    dashboard_state* what_;
};

}  // namespace

class dashboard_server::state {
public:
    explicit state(std::string address)
        : what_{.place = {.address = std::move(address)}},
          listener_(context_, what_.place, "a dashboard"),
          timer_(context_) {}
    // Requests that are under way end with the context.
    ~state() {
        if (!thread_.joinable()) return;
        asio::post(context_, [this] { end(); });
        thread_.join();
        what_.clients.clear();  // their sockets end before the context
    }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    void serve(dashboard_content content) {
        what_.content = std::move(content);
        listener_.accept([this](tcp::socket&& socket) {
            return std::make_shared<dashboard_connection>(std::move(socket), what_);
        });
        send_frames();
        thread_ = std::jthread([this] { context_.run(); });
    }
    const dashboard_state& what() const { return what_; }

private:
    // Frames are made whether or not somebody takes them, so that what waits for them stays small.
    void send_frames() {
        send_frame();
        timer_.expires_after(frame_period);
        timer_.async_wait([this](error_code) {
            if (!what_.is_ending) send_frames();
        });
    }

    void send_frame() {
        const auto frame = std::make_shared<const std::string>(what_.content.frame());
        for (const auto& one : what_.clients) one->send(frame);
    }

    void end() {
        what_.is_ending = true;
        listener_.close();
        send_frame();
        const auto clients = what_.clients;  // they leave while they are closed
        for (const auto& one : clients) one->close();
        end_when_left(std::chrono::steady_clock::now() + longest_end);
    }

    void end_when_left(std::chrono::steady_clock::time_point deadline) {
        if (what_.clients.empty() || std::chrono::steady_clock::now() > deadline)
            return context_.stop();
        timer_.expires_after(std::chrono::milliseconds(5));
        timer_.async_wait([this, deadline](error_code) { end_when_left(deadline); });
    }

    dashboard_state what_{};
    asio::io_context context_{1};
    http_listener listener_;
    asio::steady_timer timer_;
    std::jthread thread_{};  // the last member: it ends before what it uses
};

dashboard_server::dashboard_server(std::string address)
    : state_(std::make_unique<state>(std::move(address))) {}

dashboard_server::~dashboard_server() = default;

void dashboard_server::serve(dashboard_content content) {
    state_->serve(std::move(content));
}

std::uint16_t dashboard_server::port() const {
    return state_->what().place.port;
}

std::string dashboard_server::address() const {
    const dashboard_state& what = state_->what();
    return fmt::format("http://{}/?token={}", what.place.text(), what.access.token());
}

}  // namespace spikeweave::live
