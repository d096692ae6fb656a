#include "live/log/verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "live/log/records.hpp"
#include "live/log/session_file.hpp"
#include "live/session/session.hpp"
#include "live/sinks/sink.hpp"

namespace spikeweave::live {
namespace {

std::string text_of(const recorded_detection& one) {
    return fmt::format("armed {} at {} us in epoch {}, after block {}{}{}", one.armed,
                       fmt::join(one.times, ", "), one.epoch, one.input,
                       one.suppressed == suppression::none ? "" : ", suppressed by ",
                       to_string(one.suppressed));
}

std::string text_of(const recorded_window& one) {
    return fmt::format("window {} of epoch {} with {} spikes and the digest {}, after block {}",
                       one.bounds.number, one.epoch, one.spikes, one.digest, one.input);
}

std::string text_of(const recorded_arming& one) {
    return fmt::format(
        "window {} of epoch {}, in effect from {} us in epoch {}, after block {}: armed {}, "
        "disarmed {}, refused {}",
        one.window, one.window_epoch, one.from_us, one.epoch, one.input, one.armed, one.disarmed,
        one.refused);
}

template <class Record>
std::string text_of(const std::optional<Record>& one) {
    return one ? text_of(*one) : "nothing";
}

// Compares results with those of a file.
class compared_results : public sink {
public:
    explicit compared_results(session_file& file) : file_(&file) {}

    verification found{};

    void block_begins() { ++found.inputs; }

    void take(const event& what) override {
        if (!found.difference.empty()) return;
        what.visit([this](const auto& one) { on(one); });
    }
    record_place place() const override { return {.input = found.inputs}; }

    /// There must be no other results in the file.
    void end() {
        if (found.difference.empty())
            compare("detection", found.detections + 1, file_->next_detection(), {}, false);
        if (found.difference.empty())
            compare("window", found.windows + 1, file_->next_window(), {}, false);
        if (found.difference.empty())
            compare("change of what is armed", found.armings + 1, file_->next_arming(), {}, false);
    }

private:
    void on(const units_added& more) {
        for (const std::string& name : more.names) names_as_json_.push_back(json_of_name(name));
    }

    void on(const detection& what) {
        const recorded_detection computed{found.inputs,
                                          epoch_,
                                          what.armed,
                                          {what.times_us.begin(), what.times_us.end()},
                                          what.suppressed};
        // A session that was interrupted may lack detections of its last block, and the windows
        // that waited.
        compare("detection", ++found.detections, file_->next_detection(), std::optional(computed),
                !file_->counts_at_end() && found.inputs == file_->inputs());
    }

    void on(const mined_window& window) {
        const auto computed = record_of(window, names_as_json_);
        const auto recorded = file_->next_window();
        const bool may_lack = !file_->counts_at_end();
        if (!recorded && may_lack) return;
        ++found.windows;
        if (recorded && digest_of(*recorded) != recorded->digest)
            found.difference = fmt::format("window {}: its digest is {}, but what it holds has {}",
                                           found.windows, recorded->digest, digest_of(*recorded));
        else
            compare("window", found.windows, recorded, std::optional(computed), may_lack);
    }

    void on(const arming_change& change) {
        const auto computed = record_of(change, found.inputs, names_as_json_);
        compare("change of what is armed", ++found.armings, file_->next_arming(),
                std::optional(computed), false);
        if (change.is_late_change()) found.late.push_back(change);
    }

    void on(const epoch_ended&) { ++epoch_; }

    void on(const session_ended& end) {
        if (file_->counts_at_end() != json_of(end.counts))
            found.difference =
                fmt::format("the counts at the end: {} was recorded, {} was computed",
                            *file_->counts_at_end(), json_of(end.counts));
    }

    void on(const auto& /*other*/) {}

    template <class Record>
    void compare(const char* kind, std::int64_t number, const std::optional<Record>& recorded,
                 const std::optional<Record>& computed, bool may_lack) {
        if (recorded == computed || (!recorded && may_lack)) return;
        found.difference = fmt::format("{} {}: {} was recorded, {} was computed", kind, number,
                                       text_of(recorded), text_of(computed));
    }

    session_file* file_;
    std::vector<std::string> names_as_json_{};
    std::int64_t epoch_ = 0;
};

}  // namespace

verification verify_session(const std::filesystem::path& path, const execution& run) {
    session_file file(path);
    compared_results results(file);
    session through(file.header().unit_names, file.header().analysis, results);
    through.mine_as_recorded(file.outcomes());
    through.arm_as_recorded(file.arming_positions());
    std::uint64_t unrecorded = 0;
    while (const auto read = file.next_block()) {
        core::throw_if_stopped(run.stop);
        unrecorded += read->unrecorded;
        if (unrecorded > 0) break;
        results.block_begins();
        through.take(read->block, run);
        if (!results.found.difference.empty()) return results.found;
    }
    if (file.unrecorded() > 0) {
        results.found.difference =
            fmt::format("after block {}: {} records were left out, because the disk was too slow",
                        results.found.inputs, file.unrecorded());
        return results.found;
    }
    if (file.counts_at_end()) through.finish(run);
    results.end();
    return results.found;
}

}  // namespace spikeweave::live
