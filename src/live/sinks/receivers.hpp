#pragma once

#include <memory>
#include <string>

#include "live/sinks/delivery.hpp"
#include "live/sinks/destination.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sinks/reaction.hpp"

namespace spikeweave::live {

/// For each detection a marker in a stream of the Lab Streaming Layer, which this makes: a text
/// with the time at which the detection was made. LSL never waits for receivers, and does not tell
/// what they lost.
/// @param to  a destination that is a stream of LSL
/// @throws io_error if liblsl cannot be loaded, or it cannot make the stream.
std::unique_ptr<reaction> lsl_markers(const destination& to,
                                      std::shared_ptr<delivery_report> report);

/// For each detection a pulse on a TTL line, or a text in the recording, by the plugin Network
/// Events of a running Open Ephys GUI. A thread of its own sends and waits for the answers; the
/// connection is made again when it breaks. Detections that the plugin has not confirmed, or that
/// would come more than a second late, are counted as lost.
///
/// @param to  one of the two kinds for Open Ephys
/// @throws io_error if the address is invalid; invalid_argument if this build has no ZeroMQ.
std::unique_ptr<reaction> network_events(const destination& to,
                                         const std::shared_ptr<delivery_report>& report);

/// Messages that wait for a subscriber that is too slow, before it loses some.
constexpr int most_published_waiting = 10'000;

/// Publishes lines by ZeroMQ, each in a message of three frames: its type, the line without its
/// end, and how many messages of this type were published before, in decimal digits, by which a
/// subscriber notices what it did not receive. Never waits for subscribers; the report tells how
/// often one of them was too slow.
///
/// @param address  "tcp://HOST:PORT", where HOST is an interface or "*"
/// @throws io_error if the port cannot be had; invalid_argument if this build has no ZeroMQ.
std::unique_ptr<line_output> zeromq_publisher(const std::string& address,
                                              const std::shared_ptr<delivery_report>& report,
                                              int most_waiting = most_published_waiting);

}  // namespace spikeweave::live
