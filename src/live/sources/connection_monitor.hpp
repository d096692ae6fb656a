#pragma once

#include "live/network/zeromq.hpp"

namespace spikeweave::live {

/// Notices that a connection of a socket has broken, which ZeroMQ makes again without a word. The
/// socket has to live longer.
class connection_monitor {
public:
    /// @throws io_error
    connection_monitor(const zeromq_context& context, const zeromq_socket& socket);
    ~connection_monitor();
    connection_monitor(const connection_monitor&) = delete;
    connection_monitor& operator=(const connection_monitor&) = delete;
    connection_monitor(connection_monitor&&) = delete;
    connection_monitor& operator=(connection_monitor&&) = delete;

    /// Whether a connection has broken since the last call.
    bool has_broken();

private:
    void* watched_;
    zeromq_socket events_;
    zeromq_message event_{};
};

}  // namespace spikeweave::live
