#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace spikeweave::cli {

/// How long a piece of work took.
struct tried_time {
    double seconds = 0;
    bool at_least = false;  ///< it was not finished
};
/// Runs the work once, to estimate the time of many runs; gives up after ten seconds.
/// @param work   throws `cancelled` when its token asks
/// @param asked  stops the work too, which then throws `cancelled`
tried_time try_once(const std::function<void(std::stop_token)>& work, const std::stop_token& asked);

}  // namespace spikeweave::cli
