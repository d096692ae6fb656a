#pragma once

#include "live/session.hpp"
#include "live/sinks/all_results.hpp"
#include "live/sinks/delivery.hpp"
#include "live/sinks/json_results.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave::live {

/// Opens all destinations of results, and adds their sinks: those that act on detections first, and
/// files last, so that no file is made if another destination cannot be opened.
/// @param print  takes the results if one of the destinations is the caller
/// @return what destinations outside of this process will tell
/// @throws io_error if a destination cannot be opened; invalid_argument if an episode of one is not
/// armed.
delivery_reports open_sinks(const live_options& options, const session_options& analysis,
                            const text_writer& print, all_results& to);

}  // namespace spikeweave::live
