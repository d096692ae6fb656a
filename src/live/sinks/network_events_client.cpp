#include "live/sinks/network_events_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

network_events_client::network_events_client(std::string address)
    : address_(std::move(address)), context_(make_zeromq_context()) {
    make_socket();
}

void network_events_client::make_socket() {
    zeromq_socket made = make_zeromq_socket(context_, ZMQ_DEALER);
    set_zeromq_option(made, ZMQ_IMMEDIATE, 1);
    if (zmq_connect(made.get(), address_.c_str()) != 0)
        throw io_error(fmt::format("cannot connect to {}: {}", address_, zeromq_error()));
    socket_ = std::move(made);
}

bool network_events_client::wait_for(short event, clock::time_point deadline,
                                     const std::stop_token& stop) {
    constexpr long between_looks_ms = 50;
    while (!stop.stop_requested()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
        zmq_pollitem_t item{socket_.get(), 0, event, 0};
        const long wait_ms = std::clamp<long>(left.count(), 0, between_looks_ms);
        if (zmq_poll(&item, 1, wait_ms) > 0) return true;
        if (left.count() <= 0) return false;
    }
    return false;
}

bool network_events_client::connect(clock::time_point deadline, const std::stop_token& stop) {
    if (!socket_) make_socket();
    return wait_for(ZMQ_POLLOUT, deadline, stop);
}

// An empty frame stands before a request, and before its answer.
bool network_events_client::send(std::string_view request) {
    return zmq_send(socket_.get(), "", 0, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0 &&
           zmq_send(socket_.get(), request.data(), request.size(), ZMQ_DONTWAIT) >= 0;
}

std::optional<std::string> network_events_client::ask(std::string_view request,
                                                      clock::time_point deadline) {
    if (send(request) && wait_for(ZMQ_POLLIN, deadline, {}) && answer_.receive(socket_, address_)) {
        const auto frames = answer_.frames();
        if (frames.size() == 2) return std::string(frames[1]);
    }
    socket_.reset();
    return {};
}

}  // namespace spikeweave::live
