#include "spikeweave/live/run.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "live/log/recorded.hpp"
#include "live/log/resume.hpp"
#include "live/log/verify.hpp"
#include "live/open_source.hpp"
#include "live/realtime.hpp"
#include "live/session.hpp"
#include "live/sinks/all_results.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sinks/window_table.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace live;

// Lines that were written are in the file at once, so that others can follow it.
text_writer file_writer(const std::filesystem::path& path) {
    const auto out = std::make_shared<std::ofstream>(path, std::ios::binary);
    if (!*out) throw io_error(fmt::format("cannot write {}", path.string()));
    return [out, path](std::string_view text) {
        out->write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out->flush()) throw io_error(fmt::format("cannot write all of {}", path.string()));
    };
}

live_result result_of(const session_counts& counts, std::uint64_t units,
                      std::vector<std::string> warnings) {
    return {.units = units,
            .spikes = counts.order.accepted,
            .late = counts.order.late,
            .duplicates = counts.order.duplicates,
            .missing = counts.missing - counts.belated,
            .unreadable = counts.unreadable,
            .epochs = counts.epochs,
            .detections = counts.detections,
            .windows = counts.windows,
            .incomplete = counts.incomplete,
            .skipped = counts.skipped,
            .warnings = std::move(warnings)};
}

void check_together(const std::string& from, const live_options& options) {
    if (!options.windows && options.episodes.empty() && options.resume.empty() && !options.verify)
        throw invalid_argument("without windows and `episodes` there is nothing to do");
    if (!options.windows && !options.window_table.empty())
        throw invalid_argument("window_table", "no windows are mined");
    if (is_stream(from) && options.speed != live_options().speed)
        throw invalid_argument("speed", "a stream comes at its own speed");
    if (options.realtime && options.speed == 0)
        throw invalid_argument("realtime", "a file is replayed as fast as possible");
    if (options.track_every > duration{0} && options.episodes.empty() && options.resume.empty())
        throw invalid_argument("track_every", "no episodes are armed");
    if (!options.resume.empty() && !is_stream(from))
        throw invalid_argument("resume", "only a stream goes on; a file can be analysed again");
}

void add_outputs(all_results& results, const std::vector<armed_episode>& armed,
                 const live_options& options, const text_writer& write) {
    results.add(std::make_unique<json_results>(armed, write));
    if (!options.window_table.empty())
        results.add(std::make_unique<window_table>(file_writer(options.window_table)));
}

session_counts run_session_of(source& from, const session_options& analysis, sink& results,
                              const execution& run, const std::stop_token& abort) {
    session through(from.unit_names(), analysis, results);
    run_session(from, through, run, abort);
    return through.counts();
}

session_counts record_session(source& from, const session_options& analysis, sink& results,
                              const std::filesystem::path& path, const execution& run,
                              const std::stop_token& abort) {
    session_log log(path, {from.unit_names(), analysis});
    recorded_source recorded_from(from, log);
    recorded_results recorded(results, log);
    return run_session_of(recorded_from, analysis, recorded, run, abort);
}

// What was sent while nobody listened is not known: it counts as a message that was lost.
live_result resume_live(const std::string& from, const live_options& options,
                        const text_writer& write, const execution& run,
                        const std::stop_token& abort) {
    const session_options recorded = session_file(options.resume).header().analysis;
    all_results results(run, 0);
    add_outputs(results, recorded.armed, options, write);
    execution how = run;
    how.on_progress = {};
    how.stop = abort;
    const episode_window_options windows = recorded.windows.value_or(options.window);
    const resumed_session resumed =
        resume_session(options.resume, results, {}, how,
                       {pace_of(options, windows), {options.track_every, windows.length}});
    const source_block gap{.missing = 1};
    resumed.log->record(gap);
    resumed.through->take(gap, how);
    const opened_source opened = open_stream(from, options, resumed.header.unit_names, run.stop);
    recorded_source recorded_from(*opened.from, *resumed.log);
    how.stop = run.stop;
    run_session(recorded_from, *resumed.through, how, abort);
    return result_of(resumed.through->counts(), results.units(), {});
}

live_result verify_live(const std::filesystem::path& path, const text_writer& write,
                        const execution& run) {
    const verification found = verify_session(path, run);
    if (!found.difference.empty())
        throw io_error(fmt::format("'{}': {}", path.string(), found.difference));
    write(fmt::format(R"({{"type":"verification","blocks":{},"detections":{},"windows":{}}})"
                      "\n",
                      found.inputs, found.detections, found.windows));
    return {.detections = static_cast<std::uint64_t>(found.detections),
            .windows = static_cast<std::uint64_t>(found.windows)};
}

}  // namespace

live_result run_live(const std::string& from, const live_options& options,
                     const std::function<void(std::string_view)>& print, const execution& run,
                     const std::stop_token& abort) {
    check_options(options);
    check_together(from, options);
    execution how = run;
    how.threads = options.threads;
    if (options.verify) return verify_live(from, print, how);
    std::optional<realtime_thread> before_others;
    if (options.realtime) before_others.emplace();
    const text_writer write = options.to.empty() ? print : file_writer(options.to);
    if (!options.resume.empty()) return resume_live(from, options, write, how, abort);
    opened_source opened = open_source(from, options, how);

    all_results results(run, opened.spikes);
    add_outputs(results, opened.armed, options, write);
    session_options analysis{.armed = std::move(opened.armed),
                             .detector = {.ties = options.window.mining.ties}};
    analysis.order = options.order ? parse_order(*options.order) : opened.order;
    if (options.windows) analysis.windows = options.window;
    analysis.pace = pace_of(options, options.window);
    analysis.tracking = {options.track_every, options.window.length};
    how.on_progress = {};
    const session_counts counts =
        options.record.empty()
            ? run_session_of(*opened.from, analysis, results, how, abort)
            : record_session(*opened.from, analysis, results, options.record, how, abort);
    return result_of(counts, results.units(), std::move(opened.warnings));
}

}  // namespace spikeweave
