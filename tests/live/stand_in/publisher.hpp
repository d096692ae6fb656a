#pragma once

#include <zmq.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace spikeweave::live::stand_in {

/// Publishes as the plugins of Open Ephys do: ZeroMQ keeps 1,000 messages that wait to be sent to a
/// subscriber, and drops what comes beyond that. PUB drops without a word; here it is counted.
class publisher {
public:
    explicit publisher(const std::string& address = "tcp://127.0.0.1:*", int high_water_mark = 1000)
        : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_XPUB)) {
        const int refuse_instead = 1;
        zmq_setsockopt(socket_, ZMQ_XPUB_NODROP, &refuse_instead, sizeof refuse_instead);
        zmq_setsockopt(socket_, ZMQ_SNDHWM, &high_water_mark, sizeof high_water_mark);
        if (zmq_bind(socket_, address.c_str()) != 0)
            throw std::runtime_error("cannot bind " + address + ": " + zmq_strerror(zmq_errno()));
        std::array<char, 64> bound{};
        std::size_t size = bound.size();
        zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, bound.data(), &size);
        address_ = bound.data();
    }
    ~publisher() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    publisher(const publisher&) = delete;
    publisher& operator=(const publisher&) = delete;
    publisher(publisher&&) = delete;
    publisher& operator=(publisher&&) = delete;

    const std::string& address() const { return address_; }

    /// Returns false if there is none after this time.
    bool wait_for_subscriber(int most_ms = -1) {
        zmq_pollitem_t item{socket_, 0, ZMQ_POLLIN, 0};
        if (zmq_poll(&item, 1, most_ms) <= 0) return false;
        std::array<char, 8> subscription{};
        return zmq_recv(socket_, subscription.data(), subscription.size(), 0) > 0;
    }

    /// Returns false if the message was dropped.
    bool send(const std::vector<std::string>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const int more = i + 1 < frames.size() ? ZMQ_SNDMORE : 0;
            if (zmq_send(socket_, frames[i].data(), frames[i].size(), ZMQ_DONTWAIT | more) < 0) {
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
    void* context_;
    void* socket_;
    std::string address_{};
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace spikeweave::live::stand_in
