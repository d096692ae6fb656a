#include "live/network/zeromq.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

zeromq_context make_zeromq_context() {
    return zeromq_context(zmq_ctx_new());
}

zeromq_socket make_zeromq_socket(const zeromq_context& context, int type) {
    zeromq_socket socket(zmq_socket(context.get(), type));
    if (!socket) throw io_error(fmt::format("ZeroMQ has no socket: {}", zeromq_error()));
    set_zeromq_option(socket, ZMQ_LINGER, 0);
    return socket;
}

void set_zeromq_option(const zeromq_socket& socket, int name, int value) {
    zmq_setsockopt(socket.get(), name, &value, sizeof value);
}

std::string zeromq_error() {
    return zmq_strerror(zmq_errno());
}

bool zeromq_message::receive(const zeromq_socket& socket, const std::string& address) {
    count_ = 0;
    int has_more = 1;
    for (std::size_t size = sizeof has_more; has_more != 0; ++count_) {
        if (count_ == frames_.size()) frames_.push_back(std::make_unique<frame>());
        zmq_msg_t* const part = &frames_[count_]->message;
        if (zmq_msg_recv(part, socket.get(), ZMQ_DONTWAIT) < 0) {
            if (zmq_errno() == EAGAIN || zmq_errno() == EINTR) return false;
            throw io_error(fmt::format("cannot receive from {}: {}", address, zeromq_error()));
        }
        zmq_getsockopt(socket.get(), ZMQ_RCVMORE, &has_more, &size);
    }
    return true;
}

std::span<const std::string_view> zeromq_message::frames() {
    views_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
        zmq_msg_t* const part = &frames_[i]->message;
        views_.emplace_back(static_cast<const char*>(zmq_msg_data(part)), zmq_msg_size(part));
    }
    return views_;
}

}  // namespace spikeweave::live
