#pragma once

#include <zmq.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "live/stand_in/bound_socket.hpp"

namespace spikeweave::live::stand_in {

/// Publishes as the plugins of Open Ephys do: ZeroMQ keeps 1,000 messages that wait to be sent to a
/// subscriber, and drops what comes beyond that. PUB drops without a word; here it is counted.
class publisher {
public:
    explicit publisher(const std::string& address = "tcp://127.0.0.1:*", int high_water_mark = 1000)
        : socket_(ZMQ_XPUB) {
        socket_.set(ZMQ_XPUB_NODROP, 1);
        socket_.set(ZMQ_SNDHWM, high_water_mark);
        socket_.bind(address);
    }

    const std::string& address() const { return socket_.address(); }

    /// Returns false if there is none after this time.
    bool wait_for_subscriber(int most_ms = -1) {
        zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, most_ms) <= 0) return false;
        std::array<char, 8> subscription{};
        return zmq_recv(socket_.get(), subscription.data(), subscription.size(), 0) > 0;
    }

    /// Returns false if the message was dropped.
    bool send(const std::vector<std::string>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
            if (zmq_send(socket_.get(), frames[i].data(), frames[i].size(), ZMQ_DONTWAIT | more) <
                0) {
                ++dropped_;
                return false;
            }
        }
        ++sent_;
        return true;
    }

    std::uint64_t sent() const { return sent_; }
    std::uint64_t dropped() const { return dropped_; }

private:
    bound_socket socket_;
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace spikeweave::live::stand_in
