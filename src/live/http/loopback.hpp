#pragma once

#include <fmt/format.h>

#include <utility>  // Boost 1.74 uses it without including it

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string_view>

#include "spikeweave/core/error.hpp"

/// What servers have in common that only programs of this computer can reach.
namespace spikeweave::live {

/// Whether a request is for this server by one of its own names, and not by one of somebody else's
/// that was made to mean this computer.
inline bool is_own_name(std::string_view host, std::uint16_t port) {
    for (const std::string_view name : {"127.0.0.1", "localhost"})
        if (host == name || host == fmt::format("{}:{}", name, port)) return true;
    return false;
}

/// @param port  0 takes any that is free
/// @throws io_error if the port cannot be had.
inline void listen_on_loopback(boost::asio::ip::tcp::acceptor& acceptor, std::uint16_t port,
                               std::string_view what) {
    const boost::asio::ip::tcp::endpoint here(boost::asio::ip::address_v4::loopback(), port);
    try {
        acceptor.open(here.protocol());
        acceptor.set_option(boost::asio::socket_base::reuse_address(true));
        acceptor.bind(here);
        acceptor.listen();
    } catch (const boost::system::system_error& error) {
        throw io_error(
            fmt::format("cannot serve {} on 127.0.0.1:{}: {}", what, port, error.code().message()));
    }
}

}  // namespace spikeweave::live
