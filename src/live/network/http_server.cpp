#include "live/network/http_server.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t most_header_bytes = 8192;
constexpr std::size_t most_connections = 16;
constexpr std::chrono::seconds longest_exchange{5};
constexpr std::chrono::milliseconds pause_after_error{100};

std::string in_brackets(const std::string& address) {
    return address.find(':') == std::string::npos ? address : fmt::format("[{}]", address);
}

}  // namespace

std::string http_place::text() const {
    return fmt::format("{}:{}", in_brackets(address), port);
}

bool http_place::is_own_name(std::string_view host) const {
    if (host == in_brackets(address) || host == text()) return true;
    const bool is_localhost = address == "127.0.0.1" || address == "::1";
    return is_localhost && (host == "localhost" || host == fmt::format("localhost:{}", port));
}

bool is_loopback(std::string_view field, const std::string& address) {
    error_code error;
    const asio::ip::address parsed = asio::ip::make_address(address, error);
    const bool is_broadcast = parsed.is_v4() && parsed.to_v4() == asio::ip::address_v4::broadcast();
    if (error || parsed.is_unspecified() || parsed.is_multicast() || is_broadcast)
        throw invalid_argument(
            std::string(field),
            fmt::format("expected an address of this computer, such as 192.168.1.20, found '{}'",
                        address));
    return parsed.is_loopback();
}

http_connection::http_connection(tcp::socket&& socket, http_place& place)
    : stream_(std::move(socket)), buffer_(most_header_bytes), place_(&place) {
    ++place_->connections;
    parser_.header_limit(most_header_bytes);
}

http_connection::~http_connection() {
    --place_->connections;
}

void http_connection::begin() {
    stream_.expires_after(longest_exchange);
    http::async_read(
        stream_, buffer_, parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->take(error); });
}

void http_connection::take(error_code error) {
    if (!error) {
        if (!is_refused() && respond()) return;
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream) {
        refuse(status::bad_request, "the request cannot be read\n");
    } else {
        return;
    }
    answer();
}

bool http_connection::is_refused() {
    if (!place_->is_own_name(header(http::field::host))) {
        refuse(status::forbidden, "this name is not served\n");
        return true;
    }
    if (request().method() == http::verb::get) return false;
    refuse(status::method_not_allowed, "only GET is understood\n");
    set(http::field::allow, "GET");
    return true;
}

void http_connection::answer() {
    response_.version(11);
    response_.keep_alive(false);
    set(http::field::cache_control, "no-store");
    set("X-Content-Type-Options", "nosniff");
    set("Referrer-Policy", "no-referrer");
    set("Cross-Origin-Resource-Policy", "same-origin");
    response_.prepare_payload();
    stream_.expires_after(longest_exchange);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
        error_code ignored;
        static_cast<void>(self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored));
    });
}

std::string_view http_connection::target() const {
    return {request().target().data(), request().target().size()};
}

std::string_view http_connection::header(http::field name) const {
    const auto value = request()[name];
    return {value.data(), value.size()};
}

void http_connection::set(http::field name, std::string_view value) {
    response_.set(name, beast::string_view(value.data(), value.size()));
}

void http_connection::set(std::string_view name, std::string_view value) {
    response_.set(beast::string_view(name.data(), name.size()),
                  beast::string_view(value.data(), value.size()));
}

void http_connection::answer_with(std::string_view type, std::string text) {
    set(http::field::content_type, type);
    response_.body() = std::move(text);
}

void http_connection::refuse(status why, std::string_view text) {
    response_.result(why);
    answer_with("text/plain; charset=utf-8", std::string(text));
}

tcp::socket http_connection::take_socket() {
    stream_.expires_never();
    return stream_.release_socket();
}

http_listener::http_listener(asio::io_context& context, http_place& place, std::string_view what)
    : place_(&place), acceptor_(context) {
    try {
        const tcp::endpoint here(asio::ip::make_address(place.address), place.port);
        acceptor_.open(here.protocol());
        acceptor_.set_option(asio::socket_base::reuse_address(true));
        acceptor_.bind(here);
        acceptor_.listen();
        place.port = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& error) {
        throw io_error(
            fmt::format("cannot serve {} on {}: {}", what, place.text(), error.code().message()));
    }
}

void http_listener::accept(maker make) {
    make_ = std::move(make);
    accept_next();
}

void http_listener::accept_next() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
        if (!acceptor_.is_open()) return;
        if (!error && place_->connections < most_connections) make_(std::move(socket))->begin();
        // Without a pause, a process without free descriptors would do nothing else.
        if (error) std::this_thread::sleep_for(pause_after_error);
        accept_next();
    });
}

}  // namespace spikeweave::live
