#include "live/sources/streams.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

#include "live/network/zeromq.hpp"
#include "live/sources/arrivals.hpp"
#include "live/sources/open_ephys_samples.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

// Notices that a connection of a socket has broken, which ZeroMQ makes again without a word. The
// socket has to live longer.
class connection_monitor {
public:
    /// @throws io_error
    connection_monitor(const zeromq_context& context, const zeromq_socket& socket);
    ~connection_monitor();
    connection_monitor(const connection_monitor&) = delete;
    connection_monitor& operator=(const connection_monitor&) = delete;

    /// Whether a connection has broken since the last call.
    bool has_broken();

private:
    void* watched_;
    zeromq_socket events_;
    zeromq_message event_{};
};

constexpr const char* monitor_address = "inproc://connection";

connection_monitor::connection_monitor(const zeromq_context& context, const zeromq_socket& socket)
    : watched_(socket.get()), events_(make_zeromq_socket(context, ZMQ_PAIR)) {
    if (zmq_socket_monitor(watched_, monitor_address, ZMQ_EVENT_DISCONNECTED) != 0 ||
        zmq_connect(events_.get(), monitor_address) != 0)
        throw io_error(fmt::format("ZeroMQ cannot watch a connection: {}", zeromq_error()));
}

connection_monitor::~connection_monitor() {
    zmq_socket_monitor(watched_, nullptr, 0);
}

// No other events were asked for.
bool connection_monitor::has_broken() {
    bool has_come = false;
    while (event_.receive(events_, monitor_address)) has_come = true;
    return has_come;
}

[[noreturn]] void fail_to_receive(const std::string& address) {
    throw io_error(fmt::format("cannot receive from {}: {}", address, zeromq_error()));
}

// Receives the messages of a plugin. Connections that break are made again.
class open_ephys_connection {
public:
    /// @throws io_error if the address is invalid.
    /// @param longest_wait  if messages may have waited longer, all that wait are left out, unless
    /// none may be
    open_ephys_connection(std::string address, std::stop_token stop,
                          std::chrono::milliseconds longest_wait = {})
        : address_(std::move(address)),
          stop_(std::move(stop)),
          longest_wait_(longest_wait),
          context_(make_zeromq_context()),
          socket_(make_zeromq_socket(context_, ZMQ_SUB)),
          monitor_(context_, socket_) {
        // No message is dropped by ZeroMQ, and none is larger than a block of thousands of
        // channels.
        const std::int64_t most_bytes = std::int64_t{1} << 26;
        set_zeromq_option(socket_, ZMQ_RCVHWM, 0);
        zmq_setsockopt(socket_.get(), ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
        if (zmq_setsockopt(socket_.get(), ZMQ_SUBSCRIBE, "", 0) != 0 ||
            zmq_connect(socket_.get(), address_.c_str()) != 0)
            fail_to_receive(address_);
    }

    std::chrono::steady_clock::time_point arrived_after() const { return arrived_.since(); }

    /// Waits for the next block that is made of the messages; after `longest_silence`, that is an
    /// empty one. Null if it has to stop.
    template <class Messages>
    auto next(Messages& messages) -> decltype(messages.complete()) {
        constexpr int between_looks_ms = arrival_bound::between_looks.count();
        const auto end = std::chrono::steady_clock::now() + longest_silence;
        while (!stop_.stop_requested()) {
            if (auto block = messages.complete()) return block;
            take_messages(messages);
            if (auto block = messages.complete()) return block;
            if (auto block = messages.rest()) return block;
            if (std::chrono::steady_clock::now() >= end)
                return typename decltype(messages.complete())::value_type{};
            zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
            const int ready = zmq_poll(&item, 1, between_looks_ms);
            if (ready < 0 && zmq_errno() != EINTR) fail_to_receive(address_);
            // Messages sent before a connection broke have been received when none has arrived for
            // a while, and reconnecting takes longer than that.
            if (ready == 0 && monitor_.has_broken()) messages.connection_broke();
        }
        return {};
    }

private:
    // A burst of messages is processed in pieces, so that the first ones need not wait.
    template <class Messages>
    void take_messages(Messages& messages) {
        constexpr std::size_t most_at_once = 500;
        std::size_t taken = 0;
        arrived_.begin_read();
        if constexpr (requires { messages.leave_out(); })
            if (std::chrono::steady_clock::now() - arrived_.since() > longest_wait_ &&
                leave_out_waiting())
                messages.leave_out();
        for (; taken < most_at_once && received_.receive(socket_, address_); ++taken)
            messages.take(received_.frames());
        arrived_.looked(taken < most_at_once);
    }

    // More may come meanwhile. Returns whether any waited.
    bool leave_out_waiting() {
        constexpr std::size_t most_at_once = std::size_t{1} << 20;
        std::size_t count = 0;
        while (count < most_at_once && received_.receive(socket_, address_)) ++count;
        arrived_.looked(count < most_at_once);
        return count > 0;
    }

    std::string address_;
    std::stop_token stop_;
    std::chrono::milliseconds longest_wait_;
    arrival_bound arrived_{};
    zeromq_context context_;
    zeromq_socket socket_;
    connection_monitor monitor_;
    zeromq_message received_{};
};

class open_ephys_source : public source {
public:
    open_ephys_source(open_ephys_sender sender, const std::string& address, std::string stream,
                      std::vector<std::string> unit_names, std::stop_token stop)
        : messages_(sender, std::move(stream), std::move(unit_names)),
          from_(address, std::move(stop)) {}

    const std::vector<std::string>& unit_names() const override { return messages_.unit_names(); }
    std::chrono::steady_clock::time_point arrived_after() const override {
        return from_.arrived_after();
    }
    std::string first_unreadable() const override { return messages_.first_unreadable(); }
    std::optional<source_block> next() override { return from_.next(messages_); }

private:
    open_ephys_messages messages_;
    open_ephys_connection from_;
};

class open_ephys_sample_stream : public sample_stream {
public:
    open_ephys_sample_stream(const std::string& address, std::string stream,
                             recording_description of, double gain_uv, std::stop_token stop,
                             std::chrono::milliseconds longest_wait)
        : messages_(std::move(stream), std::move(of), gain_uv),
          from_(address, std::move(stop), longest_wait) {}

    const recording_description& description() const override { return messages_.description(); }
    std::optional<std::chrono::steady_clock::time_point> arrived_after() const override {
        return from_.arrived_after();
    }
    std::string first_unreadable() const override { return messages_.first_unreadable(); }
    std::optional<sample_block> next() override { return from_.next(messages_); }

private:
    open_ephys_samples messages_;
    open_ephys_connection from_;
};

}  // namespace

std::unique_ptr<source> open_ephys(open_ephys_sender sender, const std::string& address,
                                   const std::string& stream,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop) {
    return std::make_unique<open_ephys_source>(sender, address, stream, unit_names, stop);
}

std::unique_ptr<sample_stream> open_ephys_continuous(const std::string& address,
                                                     const std::string& stream,
                                                     const recording_description& of,
                                                     double gain_uv, const std::stop_token& stop,
                                                     std::chrono::milliseconds longest_wait) {
    return std::make_unique<open_ephys_sample_stream>(address, stream, of, gain_uv, stop,
                                                      longest_wait);
}

}  // namespace spikeweave::live
