#include "live/log/resume.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "live/log/entries.hpp"
#include "live/log/session_file.hpp"
#include "live/session/session.hpp"
#include "live/sinks/sink.hpp"

namespace spikeweave::live {
namespace {

void check_resumable(const session_file& file) {
    if (file.counts_at_end())
        throw io::file_error(file.path(),
                             "is a session that was ended, expected an interrupted one");
    if (file.unrecorded() > 0)
        throw io::file_error(
            file.path(), fmt::format("lacks {} records, because the disk was too slow for them, so "
                                     "the session cannot be resumed",
                                     file.unrecorded()));
}

// The order of spikes is followed twice: here for what the log says of late spikes, and in the
// session.
analysed_spikes part_of(const std::filesystem::path& path) {
    session_file file(path);
    analysed_spikes part{.inputs = file.inputs(),
                         .unit_names = file.header().unit_names,
                         .order = event_order(file.header().analysis.order),
                         .detections = file.detections(),
                         .windows = file.windows(),
                         .armings = file.armings()};
    while (const auto read = file.next_block()) {
        const source_block& block = read->block;
        part.unit_names.insert(part.unit_names.end(), block.new_units.begin(),
                               block.new_units.end());
        part.epoch = read->epoch;
        if (block.begins_epoch) part.order.flush();
        for (const spike_event& spike : block.spikes)
            if (to_index(spike.unit) < part.unit_names.size()) part.order.add(spike);
        if (block.watermark_us) part.order.advance(*block.watermark_us);
        part.order.take();
    }
    return part;
}

}  // namespace

resumed_session resume_session(const std::filesystem::path& path, sink& to,
                               const session_log_options& options, const execution& run,
                               const live_manner& how) {
    session_file file(path);
    check_resumable(file);
    resumed_session resumed{
        .header = file.header(), .inputs = file.inputs(), .senders = file.senders()};
    analysed_spikes part = part_of(path);
    std::vector<std::string> all_units = part.unit_names;
    resumed.log = std::make_unique<session_log>(path, std::move(part), options);
    resumed.results = std::make_unique<recorded_results>(to, *resumed.log);
    resumed.results->leave_out_detections(file.detections());
    session_options analysis = file.header().analysis;
    analysis.pace = how.pace;
    analysis.tracking = how.tracking;
    resumed.through =
        std::make_unique<session>(file.header().unit_names, analysis, *resumed.results);
    resumed.through->leave_out_windows(file.outcomes());
    resumed.through->resume_arming(file.arming_changes(all_units));
    for (std::int64_t number = 1; const auto read = file.next_block(); ++number) {
        core::throw_if_stopped(run.stop);
        resumed.results->repeat_input(number);
        resumed.through->take(read->block, run);
    }
    resumed.results->repeat_input(0);
    resumed.header.unit_names = std::move(all_units);
    return resumed;
}

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
