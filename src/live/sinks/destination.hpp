#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

enum class destination_kind : std::uint8_t {
    caller,
    file,
    zeromq,
    open_ephys_ttl,
    open_ephys_message,
    serial,
    lsl,
};

/// Whether what receives the results may act on an animal or a culture at once.
constexpr bool stimulates(destination_kind kind) {
    return kind == destination_kind::open_ephys_ttl || kind == destination_kind::serial;
}

/// Where results go.
struct destination {
    destination_kind kind = destination_kind::caller;
    std::string text{};     ///< as it was given
    std::string address{};  ///< a path, "tcp://HOST:PORT", or the name of a stream

    /// The episode whose detections count, by its place in the list; null: all.
    std::optional<std::uint32_t> episode{};
    std::uint32_t line = 0;  ///< of TTL, from 1
    /// Triggers whose spikes came longer ago are not acted upon, if that would stimulate.
    duration max_age = std::chrono::seconds{1};
    duration pulse = std::chrono::milliseconds{10};
    std::uint32_t baud = 115'200;
    std::uint8_t byte = 1;
};

/// Reads "-", the path of a file, or SCHEME://ADDRESS#NAME=VALUE&NAME=VALUE; lsl: has no slashes.
/// @throws invalid_argument that states what was expected.
destination parse_destination(const std::string& text);

/// Reads several, of which no two are the same; none are one that is the caller.
std::vector<destination> parse_destinations(const std::vector<std::string>& texts);

}  // namespace spikeweave::live
