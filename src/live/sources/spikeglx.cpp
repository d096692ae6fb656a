#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/text.hpp"
#include "live/sources/arrivals.hpp"
#include "live/sources/played_file.hpp"
#include "live/sources/spikeglx_samples.hpp"
#include "live/sources/streams.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

using steady = std::chrono::steady_clock;

// SpikeGLX answers within milliseconds, unless its computer is busy.
constexpr std::chrono::seconds longest_answer{5};
// Between two attempts to connect, or two questions whether a run is on.
constexpr std::chrono::milliseconds between_attempts{200};
// Less would ask SpikeGLX more often than its probes send samples.
constexpr std::chrono::milliseconds between_fetches{1};

class tcp_socket : public spikeglx_bytes {
public:
    /// @throws spikeglx_broken if it cannot be connected.
    tcp_socket(const std::string& host, const std::string& port, std::stop_token stop);
    ~tcp_socket() override { close(); }
    tcp_socket(const tcp_socket&) = delete;
    tcp_socket& operator=(const tcp_socket&) = delete;
    tcp_socket(tcp_socket&&) = delete;
    tcp_socket& operator=(tcp_socket&&) = delete;

    void send(std::string_view bytes) override;
    std::size_t receive(std::span<char> into) override;

private:
    void connect(const addrinfo& to);
    void await(short events) const;
    void close() {
        if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    }

    std::stop_token stop_;
    int descriptor_ = -1;
};

[[noreturn]] void broken(int code) {
    throw spikeglx_broken(std::generic_category().message(code));
}

tcp_socket::tcp_socket(const std::string& host, const std::string& port, std::stop_token stop)
    : stop_(std::move(stop)) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
        throw spikeglx_broken(::gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
    for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
        try {
            connect(*to);
            return;
        } catch (const spikeglx_broken&) {
            close();
            if (to->ai_next == nullptr) throw;
        }
    }
}

void tcp_socket::connect(const addrinfo& to) {
    descriptor_ =
        ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol);
    if (descriptor_ < 0) broken(errno);
    if (::connect(descriptor_, to.ai_addr, to.ai_addrlen) != 0 && errno != EINPROGRESS)
        broken(errno);
    await(POLLOUT);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) broken(error);
    const int is_on = 1;  // a command is not held back
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
}

void tcp_socket::await(short events) const {
    constexpr int between_looks_ms = arrival_bound::between_looks.count();
    const auto end = steady::now() + longest_answer;
    while (!stop_.stop_requested()) {
        pollfd look{descriptor_, events, 0};
        const int ready = ::poll(&look, 1, between_looks_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) broken(errno);
        if (steady::now() >= end)
            throw spikeglx_broken(
                fmt::format("it has not answered for {} s", longest_answer.count()));
    }
    throw spikeglx_broken("the session ends");
}

void tcp_socket::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        else if (errno == EAGAIN)
            await(POLLOUT);
        else if (errno != EINTR)
            broken(errno);
    }
}

std::size_t tcp_socket::receive(std::span<char> into) {
    for (;;) {
        const ssize_t got = ::recv(descriptor_, into.data(), into.size(), 0);
        if (got > 0) return static_cast<std::size_t>(got);
        if (got == 0) throw spikeglx_broken("it has closed the connection");
        if (errno == EAGAIN)
            await(POLLIN);
        else if (errno != EINTR)
            broken(errno);
    }
}

class spikeglx_stream : public sample_stream {
public:
    spikeglx_stream(std::string host, std::string port, spikeglx_samples samples,
                    std::stop_token stop)
        : host_(std::move(host)),
          port_(std::move(port)),
          samples_(std::move(samples)),
          stop_(std::move(stop)) {
        try {
            connect();
        } catch (const spikeglx_broken& why) {
            throw io_error(fmt::format(
                "cannot connect to SpikeGLX at {}:{}: {}: is its command server enabled (Options, "
                "Command Server Settings), at this address?",
                host_, port_, why.what()));
        }
    }

    const recording_description& description() const override { return samples_.description(); }
    std::string first_unreadable() const override { return samples_.first_unreadable(); }
    std::vector<std::string> warnings() const override { return samples_.warnings(); }
    std::optional<steady::time_point> arrived_after() const override { return arrived_.since(); }

    std::optional<sample_block> next() override {
        const auto end = steady::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (auto block = ask()) return block;
            if (steady::now() >= end) return sample_block{};
        }
        return {};
    }

private:
    void connect() {
        client_.reset();
        socket_.reset();
        socket_ = std::make_unique<tcp_socket>(host_, port_, stop_);
        client_.emplace(*socket_);
    }

    // Until the next question is due, or it has to stop.
    void pause(steady::duration between) {
        sleep_until(asked_at_ + between, stop_);
        asked_at_ = steady::now();
    }

    std::optional<sample_block> ask() {
        pause(between_);
        try {
            if (!client_) connect();
            arrived_.begin_read();
            auto block = samples_.ask(*client_, asked_at_);
            // What SpikeGLX does not have yet comes to it after the question.
            arrived_.looked(samples_.has_all(), asked_at_);
            between_ = samples_.is_running() ? between_fetches : between_attempts;
            return block;
        } catch (const spikeglx_broken& why) {
            client_.reset();
            between_ = between_attempts;
            if (dynamic_cast<const spikeglx_unreadable*>(&why) != nullptr)
                return samples_.unreadable(why.what());
            return {};
        }
    }

    std::string host_;
    std::string port_;
    spikeglx_samples samples_;
    std::stop_token stop_;
    arrival_bound arrived_{};
    std::unique_ptr<tcp_socket> socket_{};
    std::optional<spikeglx_client> client_{};  // null: not connected
    steady::time_point asked_at_{};
    steady::duration between_{};  // two questions
};

}  // namespace

std::unique_ptr<sample_stream> spikeglx(const std::string& address, const std::string& stream,
                                        const recording_description& of, double gain_uv,
                                        std::optional<std::int64_t> watermark_us,
                                        const std::stop_token& stop) {
    const std::size_t colon = address.rfind(':');
    const bool has_port =
        colon != std::string::npos && address.find(']', colon) == std::string::npos;
    std::string host = address.substr(0, has_port ? colon : std::string::npos);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string port = has_port ? address.substr(colon + 1) : "4142";
    if (host.empty() || port.empty() || !std::ranges::all_of(port, core::is_digit))
        throw invalid_argument(
            fmt::format("'spikeglx://{}' is no source: expected spikeglx://HOST:4142", address));
    return std::make_unique<spikeglx_stream>(
        host, port, spikeglx_samples(stream, of, gain_uv, watermark_us), stop);
}

}  // namespace spikeweave::live
