#pragma once

#include <memory>

#include "live/sinks/destination.hpp"
#include "live/sinks/reaction.hpp"

namespace spikeweave::live {

/// For each detection a marker in a stream of the Lab Streaming Layer, which this makes: a text
/// with the time at which the detection was made. LSL never waits for receivers, and does not tell
/// what they lost.
/// @param to  a destination that is a stream of LSL
/// @throws io_error if liblsl cannot be loaded, or it cannot make the stream.
std::unique_ptr<reaction> lsl_markers(const destination& to,
                                      std::shared_ptr<delivery_report> report);

}  // namespace spikeweave::live
