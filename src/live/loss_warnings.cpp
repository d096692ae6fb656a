#include <fmt/format.h>

#include "core/text.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave {

using core::grouped;

std::vector<std::string> loss_warnings(const live_result& result) {
    std::vector<std::string> warnings;
    if (result.missing > 0 || result.unreadable > 0 || result.late > 0)
        warnings.push_back(
            fmt::format("{} messages were lost, {} were unreadable, {} spikes were late",
                        grouped(result.missing), grouped(result.unreadable), grouped(result.late)));
    if (result.most_behind_s > 1)
        warnings.push_back(fmt::format(
            "samples were sorted up to {:.1f} s after they had come, because sorting was too slow; "
            "{} frames, which count as lost, were left out to catch up",
            result.most_behind_s, result.left_out == 0 ? "no" : grouped(result.left_out)));
    if (result.skipped > 0 || result.incomplete > 0)
        warnings.push_back(fmt::format(
            "{} windows were skipped and the search of {} ended early, because their time or the "
            "memory was used up (`window_budget`, `max_memory`)",
            grouped(result.skipped), grouped(result.incomplete)));
    if (result.untested > 0)
        warnings.push_back(
            fmt::format("{} windows could not be tested in time, so nothing in them counts as "
                        "significant (`window_budget`)",
                        grouped(result.untested)));
    if (result.late_changes > 0)
        warnings.push_back(
            fmt::format("{} times what was armed changed later than it should have, because the "
                        "window that decided took too long",
                        grouped(result.late_changes)));
    return warnings;
}

}  // namespace spikeweave
