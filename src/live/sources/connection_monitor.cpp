#include "live/sources/connection_monitor.hpp"

#include <fmt/format.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr const char* monitor_address = "inproc://connection";

}  // namespace

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

}  // namespace spikeweave::live
