#include "live/metrics/metrics_server.hpp"

#include <fmt/format.h>

#include <utility>  // Boost 1.74 uses it without including it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <thread>

#include "live/http/loopback.hpp"

namespace spikeweave::live {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t most_request_bytes = 8192;
constexpr std::size_t most_connections = 16;
constexpr std::chrono::seconds longest_request{5};
constexpr std::chrono::milliseconds pause_after_error{100};

struct served {
    std::uint16_t port;
    std::function<std::string()> text{};
    std::size_t connections = 0;
};

// A connection takes one request, answers it and ends.
class metrics_connection : public std::enable_shared_from_this<metrics_connection> {
public:
    metrics_connection(tcp::socket&& socket, served& what)
        : stream_(std::move(socket)), buffer_(most_request_bytes), what_(&what) {
        ++what_->connections;
        request_.header_limit(most_request_bytes);
    }
    ~metrics_connection() { --what_->connections; }
    metrics_connection(const metrics_connection&) = delete;
    metrics_connection& operator=(const metrics_connection&) = delete;
    metrics_connection(metrics_connection&&) = delete;
    metrics_connection& operator=(metrics_connection&&) = delete;

    void begin() {
        stream_.expires_after(longest_request);
        http::async_read(
            stream_, buffer_, request_,
            [self = shared_from_this()](error_code error, std::size_t) { self->answer(error); });
    }

private:
    void answer(error_code error) {
        if (!error)
            respond();
        else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
                 error != http::error::end_of_stream)
            refuse(http::status::bad_request, "the request cannot be read\n");
        else
            return;
        response_.version(11);
        response_.keep_alive(false);
        response_.prepare_payload();
        stream_.expires_after(longest_request);
        http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
            error_code ignored;
            self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        });
    }

    void respond() {
        const auto& request = request_.get();
        const auto host = request[http::field::host];
        const auto target = request.target();
        if (!is_own_name({host.data(), host.size()}, what_->port))
            return refuse(http::status::forbidden, "this name is not served\n");
        if (target.substr(0, target.find('?')) != "/metrics")
            return refuse(http::status::not_found, "there is only /metrics\n");
        if (request.method() != http::verb::get) {
            refuse(http::status::method_not_allowed, "only GET is understood\n");
            response_.set(http::field::allow, "GET");
            return;
        }
        response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        response_.body() = what_->text();
    }

    void refuse(http::status status, std::string_view text) {
        response_.result(status);
        response_.set(http::field::content_type, "text/plain; charset=utf-8");
        response_.body() = text;
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request_parser<http::empty_body> request_{};
    http::response<http::string_body> response_{};
    served* what_;
};

}  // namespace

class metrics_server::state {
public:
    explicit state(std::uint16_t port) : what_{port}, acceptor_(context_) {
        listen_on_loopback(acceptor_, port, "metrics");
    }
    ~state() { context_.stop(); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;
    state(state&&) = delete;
    state& operator=(state&&) = delete;

    void serve(std::function<std::string()> text) {
        what_.text = std::move(text);
        accept();
        thread_ = std::jthread([this] { context_.run(); });
    }

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            if (!error && what_.connections < most_connections)
                std::make_shared<metrics_connection>(std::move(socket), what_)->begin();
            // Without a pause, a process without free descriptors would do nothing else.
            if (error) std::this_thread::sleep_for(pause_after_error);
            accept();
        });
    }

    served what_;
    asio::io_context context_{1};
    tcp::acceptor acceptor_;
    std::jthread thread_{};  // the last member: it ends before what it uses
};

metrics_server::metrics_server(std::uint16_t port) : state_(std::make_unique<state>(port)) {}

metrics_server::~metrics_server() = default;

void metrics_server::serve(std::function<std::string()> text) {
    state_->serve(std::move(text));
}

}  // namespace spikeweave::live
