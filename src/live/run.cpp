#include "spikeweave/live/run.hpp"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <utility>

#include "live/log/recorded.hpp"
#include "live/log/resume.hpp"
#include "live/log/verify.hpp"
#include "live/session.hpp"
#include "live/sinks/json_results.hpp"
#include "live/sinks/window_table.hpp"
#include "live/sources/json_lines.hpp"
#include "live/sources/open_ephys.hpp"
#include "live/sources/replay.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace live;

constexpr std::string_view lateness_prefix = "lateness:";

order_options parse_order(const std::string& text) {
    if (text == "source") return {.policy = order_policy::source};
    if (text == "block") return {.policy = order_policy::block};
    if (!text.starts_with(lateness_prefix))
        throw invalid_argument("order", fmt::format("'{}' is not source, block or lateness:TIME, "
                                                    "such as lateness:30ms",
                                                    text));
    const duration lateness = parse_duration(text.substr(lateness_prefix.size()));
    if (lateness < duration{0})
        throw invalid_argument("order", fmt::format("'{}' has a negative time", text));
    return {.policy = order_policy::lateness, .lateness = lateness};
}

// The sources that are named by what they are and where.
constexpr std::string_view open_ephys_zmq = "open-ephys-zmq://";
constexpr std::string_view open_ephys_events = "open-ephys-events://";

// What a source is, before it gives its first block.
struct opened_source {
    std::unique_ptr<source> from{};
    order_options order{};
    std::vector<armed_episode> armed{};
    std::uint64_t spikes = 0;  // 0: it is not known how many will come
    std::vector<std::string> warnings{};
};

std::vector<armed_episode> armed_in(const std::filesystem::path& path,
                                    const spike_sequence& spikes) {
    std::vector<armed_episode> armed;
    if (path.empty()) return armed;
    for (episode& one : read_episodes(path, spikes)) armed.push_back({std::move(one)});
    return armed;
}

// Only the units of armed episodes are known before a stream begins.
std::vector<std::string> units_in(const std::filesystem::path& episodes) {
    if (episodes.empty()) return {};
    return units_of_episodes(episodes);
}

opened_source open_stream(const std::string& from, const live_options& options,
                          std::vector<std::string> names, const std::stop_token& stop) {
    opened_source opened{.armed = armed_in(options.episodes, spike_sequence({}, {}, names, {}))};
    const auto received = [&](open_ephys_sender sender, std::string_view scheme) {
        opened.from =
            open_ephys(sender, "tcp://" + from.substr(scheme.size()), options.stream, names, stop);
    };
    if (from.starts_with(open_ephys_zmq)) {
        opened.order.policy = order_policy::block;
        received(open_ephys_sender::zmq_interface, open_ephys_zmq);
    } else if (from.starts_with(open_ephys_events)) {
        opened.order.policy = order_policy::lateness;
        received(open_ephys_sender::event_broadcaster, open_ephys_events);
    } else {
        opened.from = std::make_unique<json_lines>(from, std::move(names), stop);
    }
    return opened;
}

opened_source open_file(const std::string& from, const live_options& options,
                        const execution& run) {
    spike_file file = read_spikes(from, options.reading, run);
    opened_source opened{.armed = armed_in(options.episodes, file.spikes),
                         .spikes = file.spikes.size(),
                         .warnings = warnings_of(file)};
    opened.from = std::make_unique<replay>(std::move(file.spikes), options.speed, run.stop);
    return opened;
}

bool is_named_source(const std::string& from) {
    if (from.find("://") == std::string::npos) return false;
    if (from.starts_with(open_ephys_zmq) || from.starts_with(open_ephys_events)) return true;
    throw invalid_argument(
        fmt::format("'{}' is no source: expected {}HOST:5556, {}HOST:5557, a file or -", from,
                    open_ephys_zmq, open_ephys_events));
}

bool is_stream(const std::filesystem::path& from) {
    std::error_code unknown;
    return is_named_source(from.string()) || from == "-" || from.extension() == ".jsonl" ||
           from.extension() == ".ndjson" || std::filesystem::is_fifo(from, unknown);
}

// Lines that were written are in the file at once, so that others can follow it.
text_writer file_writer(const std::filesystem::path& path) {
    const auto out = std::make_shared<std::ofstream>(path, std::ios::binary);
    if (!*out) throw io_error(fmt::format("cannot write {}", path.string()));
    return [out, path](std::string_view text) {
        out->write(text.data(), static_cast<std::streamsize>(text.size()));
        if (!out->flush()) throw io_error(fmt::format("cannot write all of {}", path.string()));
    };
}

// All sinks of a run.
class all_results : public sink {
public:
    all_results(execution run, std::uint64_t total) : run_(std::move(run)), total_(total) {}
    void add(std::unique_ptr<sink> one) { sinks_.push_back(std::move(one)); }

    std::uint64_t units() const { return units_; }

    void units_added(std::span<const std::string> names) override {
        units_ += names.size();
        for (const auto& one : sinks_) one->units_added(names);
    }
    void detected(const episode_detection& detection) override {
        for (const auto& one : sinks_) one->detected(detection);
    }
    void mined(const mined_window& window) override {
        for (const auto& one : sinks_) one->mined(window);
    }
    void epoch_ended() override {
        for (const auto& one : sinks_) one->epoch_ended();
    }
    void block_ended(const session_counts& counts) override {
        for (const auto& one : sinks_) one->block_ended(counts);
        if (run_.on_progress) run_.on_progress({"spikes", counts.order.accepted, total_});
    }
    void session_ended(const session_counts& counts) override {
        for (const auto& one : sinks_) one->session_ended(counts);
    }

private:
    execution run_;
    std::uint64_t total_;
    std::uint64_t units_ = 0;
    std::vector<std::unique_ptr<sink>> sinks_{};
};

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
            .warnings = std::move(warnings)};
}

void check_together(const std::string& from, const live_options& options) {
    if (!options.windows && options.episodes.empty() && options.resume.empty() && !options.verify)
        throw invalid_argument("without windows and `episodes` there is nothing to do");
    if (!options.windows && !options.window_table.empty())
        throw invalid_argument("window_table", "no windows are mined");
    if (is_stream(from) && options.speed != live_options().speed)
        throw invalid_argument("speed", "a stream comes at its own speed");
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
    all_results results(run, 0);
    add_outputs(results, session_file(options.resume).header().analysis.armed, options, write);
    execution how = run;
    how.on_progress = {};
    how.stop = abort;
    const resumed_session resumed = resume_session(options.resume, results, {}, how);
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

option_list describe(live_options& options) {
    option_list list;
    list.begin_group("Source");
    list.add("speed", options.speed,
             "how much faster than in the recording a file is replayed; max is as fast as possible")
        .above(0)
        .zero_is("max")
        .written("X|max");
    list.add("order", options.order,
             "how it is known that no earlier spike will come: source (spikes come in the order of "
             "their times), block (the source says so) or lateness:TIME (a spike comes at most so "
             "long after later ones)")
        .written("ORDER")
        .by_default("as the source needs it")
        .obeys([&options] {
            if (options.order) static_cast<void>(parse_order(*options.order));
        });
    list.add("stream", options.stream,
             "the stream of Open Ephys that is analysed, if several have spikes")
        .written("NAME");
    list.add_all(describe(options.reading));
    list.begin_group("Results");
    list.add("episodes", options.episodes,
             "detect these episodes: a file with one a line, such as n0 4-6ms n1 4-6ms n2, or the "
             "folder of a result, whose significant chains and edges are taken")
        .written("EPISODES");
    list.add("to", options.to, "file for the results, instead of standard output").written("FILE");
    list.add("window_table", options.window_table,
             "also write the episodes of all windows as a table")
        .written("FILE");
    list.add("record", options.record,
             "record the session in this new file, from which it can be resumed, verified and "
             "converted")
        .written("SESSION");
    list.add("resume", options.resume,
             "go on with a recorded session that was interrupted, with its options; SOURCE is a "
             "stream whose clock has gone on")
        .written("SESSION")
        .not_with({"record", "episodes"});
    list.add("verify", options.verify,
             "compare the results of a recorded session, SOURCE, with those that its spikes give "
             "now, with its options; the first difference is an error")
        .not_with({"record", "resume", "to", "window_table"});
    list.add("windows", options.windows, "mine windows").off_means("mine no windows");
    list.add_all(describe(options.window));
    list.change("window").written("TIME|growing");
    list.begin_group("Computation");
    list.add("threads", options.threads, "number of worker threads; 0 uses all cores")
        .at_most(4096);
    return list;
}

live_result run_live(const std::string& from, const live_options& options,
                     const std::function<void(std::string_view)>& print, const execution& run,
                     const std::stop_token& abort) {
    check_options(options);
    check_together(from, options);
    execution how = run;
    how.threads = options.threads;
    if (options.verify) return verify_live(from, print, how);
    const text_writer write = options.to.empty() ? print : file_writer(options.to);
    if (!options.resume.empty()) return resume_live(from, options, write, how, abort);
    opened_source opened = is_stream(from)
                               ? open_stream(from, options, units_in(options.episodes), run.stop)
                               : open_file(from, options, how);

    all_results results(run, opened.spikes);
    add_outputs(results, opened.armed, options, write);
    session_options analysis{.armed = std::move(opened.armed),
                             .detector = {.ties = options.window.mining.ties}};
    analysis.order = options.order ? parse_order(*options.order) : opened.order;
    if (options.windows) analysis.windows = options.window;
    how.on_progress = {};
    const session_counts counts =
        options.record.empty()
            ? run_session_of(*opened.from, analysis, results, how, abort)
            : record_session(*opened.from, analysis, results, options.record, how, abort);
    return result_of(counts, results.units(), std::move(opened.warnings));
}

}  // namespace spikeweave
