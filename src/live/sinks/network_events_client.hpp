#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "live/network/zeromq.hpp"

namespace spikeweave::live {

/// Asks the plugin Network Events, one request after another, as a socket REQ would. But a request
/// is only sent while there is a connection, and one that is not answered in time is given up
/// together with its connection, so that a late answer is not taken for that to the next one.
class network_events_client {
public:
    using clock = std::chrono::steady_clock;

    /// @throws io_error if the address is invalid.
    explicit network_events_client(std::string address);

    /// Waits for a connection. Returns false if there is none in time, or if it is stopped.
    /// @throws io_error if the system has no more sockets.
    bool connect(clock::time_point deadline, const std::stop_token& stop = {});
    /// Sends a request over the connection and returns the answer; null if there is none in time.
    std::optional<std::string> ask(std::string_view request, clock::time_point deadline);

private:
    void make_socket();
    bool wait_for(short event, clock::time_point deadline, const std::stop_token& stop);
    bool send(std::string_view request);

    std::string address_;
    zeromq_context context_;
    zeromq_socket socket_{};  // null after a request that was given up
    zeromq_message answer_{};
};

}  // namespace spikeweave::live
