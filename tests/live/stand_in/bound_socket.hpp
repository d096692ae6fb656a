#pragma once

#include <zmq.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace spikeweave::live::stand_in {

/// A socket of ZeroMQ that others connect to.
class bound_socket {
public:
    explicit bound_socket(int type)
        : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {}
    ~bound_socket() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    bound_socket(const bound_socket&) = delete;
    bound_socket& operator=(const bound_socket&) = delete;

    void set(int option, int value) { zmq_setsockopt(socket_, option, &value, sizeof value); }
    void bind(const std::string& address) {
        if (zmq_bind(socket_, address.c_str()) != 0)
            throw std::runtime_error("cannot bind " + address + ": " + zmq_strerror(zmq_errno()));
        std::array<char, 64> bound{};
        std::size_t size = bound.size();
        zmq_getsockopt(socket_, ZMQ_LAST_ENDPOINT, bound.data(), &size);
        address_ = bound.data();
    }

    void* get() const { return socket_; }
    /// With the port that was chosen.
    const std::string& address() const { return address_; }

private:
    void* context_;
    void* socket_;
    std::string address_{};
};

}  // namespace spikeweave::live::stand_in
