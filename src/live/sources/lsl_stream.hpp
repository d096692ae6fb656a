#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "live/sources/source.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::live {

/// Receives spikes from a stream of the Lab Streaming Layer: one channel of text, the name of the
/// unit of a spike, or of whole numbers. Times are those of the samples, in the clock of this
/// computer: the offset of the sender's clock is measured once for each connection. A connection
/// that breaks is made again, which begins a new epoch.
/// @param name        of the stream, which is waited for for some seconds
/// @param unit_names  units that are known before they appear
/// @param stop        ends the source within a moment
/// @param lateness    as of `stream_clock`
/// @throws io_error if liblsl cannot be loaded, there is no such stream or several, or it does not
/// have spikes.
std::unique_ptr<source> lsl_stream(const std::string& name,
                                   const std::vector<std::string>& unit_names,
                                   const std::stop_token& stop = {},
                                   duration lateness = duration{0});

}  // namespace spikeweave::live
