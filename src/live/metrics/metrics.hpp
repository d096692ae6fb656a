#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "live/metrics/session_monitor.hpp"
#include "live/sinks/delivery.hpp"

namespace spikeweave::live {

/// The state of a session in the text format of Prometheus. docs/cli.md lists what it has.
std::string metrics_text(const monitored_state& state, const delivery_reports& reports,
                         std::uint64_t memory_bytes, std::chrono::steady_clock::time_point now);

/// Serves a text at http://127.0.0.1:PORT/metrics, by a thread of its own, as long as it lives.
/// Only requests for this address are answered, so that no page in a browser can have the text
/// through a name of its own.
class metrics_server {
public:
    /// @throws io_error if the port cannot be had.
    explicit metrics_server(std::uint16_t port);
    ~metrics_server();
    metrics_server(const metrics_server&) = delete;
    metrics_server& operator=(const metrics_server&) = delete;
    metrics_server(metrics_server&&) = delete;
    metrics_server& operator=(metrics_server&&) = delete;

    /// @param text  makes the text; it is called by the server's thread
    void serve(std::function<std::string()> text);

private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live
