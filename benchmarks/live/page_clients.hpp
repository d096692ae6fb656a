#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Programs that take the frames of a dashboard, as pages in browsers do.
namespace spikeweave {

/// The pages of one dashboard. They answer no pings, so that the server ends their connections now
/// and then, and they open others.
class page_clients {
public:
    /// @param address  http://127.0.0.1:PORT/?token=TOKEN
    explicit page_clients(std::string_view address) {
        const std::size_t colon = address.rfind(':');
        const std::size_t slash = address.find('/', colon);
        port_ = static_cast<std::uint16_t>(
            std::stoi(std::string(address.substr(colon + 1, slash - colon - 1))));
        host_ = fmt::format("127.0.0.1:{}", port_);
        const int page = asked(std::string(address.substr(slash)), "");
        std::string answer;
        for (ssize_t got = 1; got > 0;) {
            got = ::read(page, buffer_.data(), buffer_.size());
            answer.append(buffer_.data(), static_cast<std::size_t>(got > 0 ? got : 0));
        }
        ::close(page);
        constexpr std::string_view name = "Set-Cookie: ";
        const std::size_t at = answer.find(name);
        if (at == std::string::npos) throw std::runtime_error("the dashboard gives no cookie");
        const std::size_t begin = at + name.size();
        cookie_ = answer.substr(begin, answer.find(';', begin) - begin);
    }

    /// Takes frames until the dashboard ends.
    /// @param stalled  how many more clients take nothing
    void watch(std::size_t clients, std::size_t stalled) {
        std::vector<pollfd> all(clients + stalled);
        try {
            for (std::size_t i = 0; i < all.size(); ++i)
                all[i] = {opened(), static_cast<short>(i < clients ? POLLIN : POLLRDHUP), 0};
            while (true) {
                ::poll(all.data(), all.size(), -1);
                for (pollfd& one : all)
                    if (one.revents != 0 && (one.events != POLLIN || !takes(one.fd))) {
                        ::close(one.fd);
                        one.fd = opened();
                    }
            }
        } catch (const std::runtime_error&) {
            for (const pollfd& one : all) ::close(one.fd);  // the dashboard has ended
        }
    }

private:
    int asked(const std::string& target, const std::string& more) const {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port_);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const std::string text =
            fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target, host_, more);
        if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 ||
            ::write(socket, text.data(), text.size()) < 0) {
            ::close(socket);
            throw std::runtime_error("there is no dashboard");
        }
        return socket;
    }

    int opened() const {
        return asked("/frames", fmt::format("Origin: http://{}\r\nCookie: {}\r\n"
                                            "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                            "Sec-WebSocket-Version: 13\r\n"
                                            "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n",
                                            host_, cookie_));
    }

    bool takes(int from) { return ::read(from, buffer_.data(), buffer_.size()) > 0; }

    std::uint16_t port_ = 0;
    std::string host_{}, cookie_{};
    std::array<char, 1 << 16> buffer_{};
};

}  // namespace spikeweave
