#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "live/arming/arming.hpp"
#include "live/log/recorded.hpp"
#include "live/log/session_file.hpp"
#include "live/log/session_log.hpp"
#include "live/session/session.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::live {

/// A session that goes on after it was interrupted. Its parts are used as those of a new one: what
/// it finds from here on is what it would have found without the interruption.
struct resumed_session {
    session_header header{};  ///< with the units that appeared later
    std::unique_ptr<session_log> log{};
    std::unique_ptr<recorded_results> results{};
    std::unique_ptr<session> through{};
    std::int64_t inputs = 0;  ///< the blocks that had been recorded
    std::vector<sender_progress> senders{};
};

/// Facts of a session that a record lacks.
struct live_manner {
    window_pace pace{};
    tracking_options tracking{};
};

/// Processes the recorded blocks again. Windows that were recorded are not mined again, and results
/// that were recorded are neither recorded nor given to the sink; but those that had not been
/// written are.
/// @param to  has to live as long as the session
/// @throws io_error if the file is no session, was ended, or lacks records; what mining throws.
resumed_session resume_session(const std::filesystem::path& path, sink& to,
                               const session_log_options& options = {}, const execution& run = {},
                               const live_manner& how = {});

/// The comparison, and the first difference.
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
