#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "live/metrics/session_monitor.hpp"
#include "live/sinks/delivery.hpp"

namespace spikeweave::live {

/// The state of a session in the text format of Prometheus. docs/cli.md lists what it has.
std::string metrics_text(const monitored_state& state, const delivery_reports& reports,
                         std::uint64_t memory_bytes, std::chrono::steady_clock::time_point now);

}  // namespace spikeweave::live
