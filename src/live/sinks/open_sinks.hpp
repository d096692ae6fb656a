#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "live/session/session_options.hpp"
#include "live/sinks/all_results.hpp"
#include "live/sinks/delivery.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sinks/line_queue.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave::live {

/// The reports of destinations, and the results that wait for slow ones.
struct opened_sinks {
    delivery_reports reports{};
    std::vector<std::shared_ptr<line_queue>> queues{};
};

/// Opens all destinations of results, and adds their sinks: those that act on detections first, and
/// files last, so that no file is made if another destination cannot be opened.
/// @param print  takes the results if one of the destinations is the caller
/// @param stop   ends the patience with those that take nothing
/// @throws io_error if a destination cannot be opened; invalid_argument if an episode of one is not
/// armed.
opened_sinks open_sinks(const live_options& options, const session_options& analysis,
                        const line_taker& print, const std::stop_token& stop, all_results& to);

}  // namespace spikeweave::live
