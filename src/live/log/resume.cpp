#include "live/log/resume.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"

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

}  // namespace spikeweave::live
