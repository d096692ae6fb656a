#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spikeweave::live {

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
