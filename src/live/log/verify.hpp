#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "live/arming/arming.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::live {

/// What was compared, and the first difference.
struct verification {
    std::int64_t inputs = 0;
    std::int64_t detections = 0;
    std::int64_t windows = 0;
    std::int64_t armings = 0;  ///< decisions on what is armed
    /// Those that changed something later than by the rule; all else about them is compared.
    std::vector<arming_change> late{};
    std::string difference{};  ///< empty: there is none
};

/// Processes the blocks of a recorded session again, and compares what is found with what was
/// recorded: detections with their times, windows with their digests, and the counts at the end.
/// @throws io_error if the file is no session or damaged; cancelled; what mining throws.
verification verify_session(const std::filesystem::path& path, const execution& run = {});

}  // namespace spikeweave::live
