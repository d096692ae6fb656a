#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>  // Boost 1.74 uses it without including it

namespace spikeweave::live {

/// Where a server is reached.
struct http_place {
    std::string address = "127.0.0.1";  ///< IPv6 without brackets
    std::uint16_t port = 0;             ///< 0: any that is free, until there is a server
    std::size_t connections = 0;        ///< those that are open

    /// As addresses of pages have it: "127.0.0.1:8000" or "[::1]:8000".
    std::string text() const;
    /// Whether a request is for this place, and not for a name of somebody else's that was made to
    /// mean this computer.
    bool is_own_name(std::string_view host) const;
};

/// Whether only programs of this computer reach an address.
/// @throws invalid_argument of `field` if it is no address, or none of one computer.
bool is_loopback(std::string_view field, const std::string& address);

}  // namespace spikeweave::live

/// Common parts of the servers of a session: each connection gets one answer. Requests are small,
/// and must arrive soon.
namespace spikeweave::live {

/// A connection takes one request, and answers it unless another object takes it over.
class http_connection : public std::enable_shared_from_this<http_connection> {
public:
    http_connection(boost::asio::ip::tcp::socket&& socket, http_place& place);
    virtual ~http_connection();
    http_connection(const http_connection&) = delete;
    http_connection& operator=(const http_connection&) = delete;

    void begin();

protected:
    using request_type = boost::beast::http::request<boost::beast::http::empty_body>;
    using status = boost::beast::http::status;

    /// Answers a request for this place, or returns true if the socket was taken.
    virtual bool respond() = 0;

    const request_type& request() const { return parser_.get(); }
    std::string_view target() const;
    std::string_view header(boost::beast::http::field name) const;
    void set(boost::beast::http::field name, std::string_view value);
    void set(std::string_view name, std::string_view value);
    void answer_with(std::string_view type, std::string text);
    void refuse(status why, std::string_view text);
    boost::asio::ip::tcp::socket take_socket();

private:
    void take(boost::system::error_code error);
    bool is_refused();
    void answer();

    boost::beast::tcp_stream stream_;
    boost::beast::flat_buffer buffer_;
    boost::beast::http::request_parser<boost::beast::http::empty_body> parser_{};
    boost::beast::http::response<boost::beast::http::string_body> response_{};
    http_place* place_;
};

/// Takes connections while its context runs.
class http_listener {
public:
    using maker = std::function<std::shared_ptr<http_connection>(boost::asio::ip::tcp::socket&&)>;

    /// @param place  where to listen; has to live longer than the context, and gets its port
    /// @param what   is served, for messages
    /// @throws io_error if the place cannot be had.
    http_listener(boost::asio::io_context& context, http_place& place, std::string_view what);

    void accept(maker make);
    void close() { acceptor_.close(); }

private:
    void accept_next();

    http_place* place_;
    boost::asio::ip::tcp::acceptor acceptor_;
    maker make_{};
};

}  // namespace spikeweave::live
