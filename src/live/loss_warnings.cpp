#include <fmt/format.h>

#include "core/text.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave {

using core::grouped;
using core::plural;

std::string summarize(const live_result& result) {
    const std::uint64_t suppressed = result.detections - result.triggers;
    std::string text = plural(result.triggers, "trigger", "triggers");
    if (suppressed > 0)
        text += " and " + plural(suppressed, "suppressed detection", "suppressed detections");
    text += fmt::format(" in {} of {}", plural(result.spikes, "spike", "spikes"),
                        plural(result.units, "unit", "units"));
    if (result.monitored > 0) {
        const std::uint64_t episodes = result.monitored - result.patterns;
        text += fmt::format(
            "; {}{}{} monitored", episodes > 0 ? plural(episodes, "episode", "episodes") : "",
            episodes > 0 && result.patterns > 0 ? " and " : "",
            result.patterns > 0 ? plural(result.patterns, "pattern", "patterns") : "");
    }
    if (result.windows > 0) text += "; " + plural(result.windows, "window", "windows");
    return text + ".";
}

std::vector<std::string> loss_warnings(const live_result& result) {
    std::vector<std::string> warnings;
    if (result.missing > 0 || result.unreadable > 0 || result.late > 0)
        warnings.push_back(fmt::format(
            "{}, {}, {}", plural(result.missing, "message was lost", "messages were lost"),
            plural(result.unreadable, "was unreadable", "were unreadable"),
            plural(result.late, "spike was late", "spikes were late")));
    if (result.most_behind_s > 1)
        warnings.push_back(fmt::format(
            "samples were sorted up to {:.1f} s after they had come, because sorting was too slow; "
            "{} frames, which count as lost, were left out to catch up",
            result.most_behind_s, result.left_out == 0 ? "no" : grouped(result.left_out)));
    if (result.skipped > 0 || result.incomplete > 0)
        warnings.push_back(fmt::format(
            "{} skipped and the search of {} ended early, because their time or the memory was "
            "used "
            "up (`window_budget`, `max_memory`)",
            plural(result.skipped, "window was", "windows were"), grouped(result.incomplete)));
    if (result.untested > 0)
        warnings.push_back(
            fmt::format("{} could not be tested in time, so nothing in them counts as significant "
                        "(`window_budget`)",
                        plural(result.untested, "window", "windows")));
    if (result.late_changes > 0)
        warnings.push_back(
            fmt::format("what was armed changed {} later than it should have, because the window "
                        "that decided took too long",
                        plural(result.late_changes, "time", "times")));
    return warnings;
}

}  // namespace spikeweave
