#pragma once

#include <stop_token>

namespace spikeweave::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop; the second one ends the process at
/// once. Writing to a closed pipe or past a file-size limit becomes an error instead of a signal.
///
/// It must be called before any other thread starts, because threads inherit that these signals do
/// not reach them.
std::stop_token stop_on_signals();

}  // namespace spikeweave::cli
