#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spikeweave::live {

/// Where a server is reached.
struct http_place {
    std::string address = "127.0.0.1";  ///< IPv6 without brackets
    std::uint16_t port = 0;             ///< 0: any that is free, until there is a server
    std::size_t connections = 0;        ///< those that are open

    /// As addresses of pages have it: "127.0.0.1:8000" or "[::1]:8000".
    std::string text() const;
    /// Whether a request is for this place, and not for a name of somebody else's that was made to
    /// mean this computer.
    bool is_own_name(std::string_view host) const;
};

/// Whether only programs of this computer reach an address.
/// @throws invalid_argument of `field` if it is no address, or none of one computer.
bool is_loopback(std::string_view field, const std::string& address);

}  // namespace spikeweave::live
