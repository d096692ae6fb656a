#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "live/sources/senders.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// Listens for programs that send spikes as docs/formats.md describes it, and acknowledges what
/// they have sent. It ends when all of them have finished.
/// @param address  "tcp://ADDRESS:PORT", of this computer
/// @param stop     ends the source within a moment
/// @throws io_error if it cannot listen; invalid_argument if this build has no streams.
std::unique_ptr<source> acknowledged_stream(const std::string& address, senders&& from,
                                            const std::stop_token& stop = {});

}  // namespace spikeweave::live
