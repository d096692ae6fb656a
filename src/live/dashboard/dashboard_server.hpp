#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spikeweave::live {

/// The content of a dashboard. The server's thread calls the functions.
struct dashboard_content {
    std::string page{};                      ///< HTML
    std::string page_policy{};               ///< its content security policy
    std::function<std::string()> session{};  ///< JSON: names of units, and what is armed
    std::function<std::string()> opening{};  ///< the first frame for a page that is opened
    std::function<std::string()> frame{};    ///< the next frame, whoever gets it
};

/// Serves a page at a free port of an address and sends it frames through a WebSocket, by a thread
/// of its own. Whoever opens `address` gets a cookie; without one, nothing is served. Nothing that
/// a client sends changes anything, and one that takes frames slowly gets fewer of them.
class dashboard_server {
public:
    static constexpr std::size_t most_clients = 16;

    /// @throws io_error if there is no port of this address.
    explicit dashboard_server(std::string address = "127.0.0.1");
    /// Sends the last frame to all who take it in time.
    ~dashboard_server();
    dashboard_server(const dashboard_server&) = delete;
    dashboard_server& operator=(const dashboard_server&) = delete;

    void serve(dashboard_content content);
    std::uint16_t port() const;
    /// With the token, so it is a secret.
    std::string address() const;

private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live
