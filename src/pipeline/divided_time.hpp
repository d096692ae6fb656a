#pragma once

#include <vector>

#include "spikeweave/core/time.hpp"

namespace spikeweave::pipeline {

/// Epochs that are searched, and those that are held out.
struct divided_time {
    std::vector<time_span> searched{};
    std::vector<time_span> held_out{};
};

/// Holds a share of blocks out, evenly spread: of the first n, share × n, rounded down.
/// @throws invalid_argument if nothing would be searched, or nothing held out.
divided_time divide_time(const std::vector<time_span>& blocks, double share);

/// Blocks of a recorded span, the last of which contains its last spike.
std::vector<time_span> blocks_of(const time_span& span, duration length);

}  // namespace spikeweave::pipeline
