#pragma once

#include <memory>

#include "live/sinks/destination.hpp"
#include "live/sinks/reaction.hpp"

namespace spikeweave::live {

/// For each detection a pulse on a TTL line, or a text in the recording, by the plugin Network
/// Events of a running Open Ephys GUI. A thread of its own sends and waits for the answers; the
/// connection is made again when it breaks. Detections that the plugin has not confirmed, or that
/// would come more than a second late, are counted as lost.
///
/// @param to  one of the two kinds for Open Ephys
/// @throws io_error if the address is invalid; invalid_argument if this build has no ZeroMQ.
std::unique_ptr<reaction> network_events(const destination& to,
                                         const std::shared_ptr<delivery_report>& report);

}  // namespace spikeweave::live
