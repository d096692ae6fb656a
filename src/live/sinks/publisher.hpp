#pragma once

#include <memory>
#include <string>

#include "live/sinks/delivery.hpp"
#include "live/sinks/json_results.hpp"

namespace spikeweave::live {

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
