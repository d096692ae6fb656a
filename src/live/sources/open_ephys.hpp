#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "live/sources/open_ephys_messages.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// Receives spikes from a running Open Ephys GUI. Connections that break are made again.
/// @param address     "tcp://HOST:PORT"
/// @param stream      empty: the one that has the first spike
/// @param unit_names  units that are known before they appear
/// @param stop        ends the source within a moment
/// @throws io_error if the address is invalid; invalid_argument if this build has no streams.
std::unique_ptr<source> open_ephys(open_ephys_sender sender, const std::string& address,
                                   const std::string& stream,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop = {});

}  // namespace spikeweave::live
