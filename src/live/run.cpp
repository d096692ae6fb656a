#include "spikeweave/live/run.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "live/arming/arming_rule.hpp"
#include "live/dashboard/dashboard.hpp"
#include "live/log/recorded.hpp"
#include "live/log/resume.hpp"
#include "live/metrics/session_monitor.hpp"
#include "live/network/http_server.hpp"
#include "live/run_source.hpp"
#include "live/session/session.hpp"
#include "live/sinks/all_results.hpp"
#include "live/sinks/event_results.hpp"
#include "live/sinks/open_sinks.hpp"
#include "live/sinks/silent_units.hpp"
#include "live/sources/open_source.hpp"
#include "live/triggers/false_alarm_limit.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/live/events.hpp"

namespace spikeweave::live {
namespace {

// While it lives, the thread that made it runs before all others (SCHED_FIFO), and no memory of
// the process is paged out. Threads that it starts are scheduled as usual.
class realtime_thread {
public:
    /// @throws invalid_argument if the system does not permit it.
    realtime_thread();
    ~realtime_thread();
    realtime_thread(const realtime_thread&) = delete;
    realtime_thread& operator=(const realtime_thread&) = delete;
};

// Above ordinary threads is enough; threads of the system that serve devices have 50.
constexpr int priority = 10;

[[noreturn]] void refuse(const char* what, const char* remedy) {
    throw invalid_argument("realtime", fmt::format("the system does not permit {} ({}): {}", what,
                                                   std::generic_category().message(errno), remedy));
}

// Of the calling thread.
bool schedule(int policy, int at) {
    const sched_param parameters{at};
    return ::sched_setscheduler(0, policy, &parameters) == 0;
}

realtime_thread::realtime_thread() {
    if (!schedule(SCHED_FIFO | SCHED_RESET_ON_FORK, priority))
        refuse("a thread that runs before all others",
               "set rtprio to 10 or more in /etc/security/limits.conf");
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return;
    const int why = errno;
    schedule(SCHED_OTHER, 0);
    errno = why;
    refuse("memory that is never paged out",
           "set memlock to unlimited in /etc/security/limits.conf");
}

realtime_thread::~realtime_thread() {
    ::munlockall();
    schedule(SCHED_OTHER, 0);
}

constexpr double longest_us = 1e15;  // 30 years

std::optional<duration> budget_of(const live_options& options,
                                  const episode_window_options& windows) {
    if (options.window_budget) {
        if (*options.window_budget == duration{0}) return {};
        return options.window_budget;
    }
    if (options.speed == 0) return {};
    const duration hop = windows.hop == duration{0} ? windows.length : windows.hop;
    const double us = std::ceil(static_cast<double>(hop.count()) / options.speed);
    return duration{static_cast<std::int64_t>(std::min(us, longest_us))};
}

// A search needs a moment to end, and what it has found is written as text and as a record, so it
// ends when half of what the process may have is in use.
std::uint64_t bound_of(std::uint64_t most) {
    if (most == 0) most = resident_memory_bytes() + available_memory_bytes() / 5 * 4;
    return most / 2;
}

// Windows of spikes that come in real time, or as if they did, have until the next one is
// complete, unless the options say otherwise.
window_pace pace_of(const live_options& options, const episode_window_options& windows) {
    window_pace pace{.beside = options.speed > 0, .budget = budget_of(options, windows)};
    if (pace.budget) pace.max_memory_bytes = bound_of(windows.mining.max_memory_bytes);
    return pace;
}

}  // namespace
}  // namespace spikeweave::live

namespace spikeweave {
namespace {

using namespace live;

// Where the results go, and what is served about the session meanwhile.
struct outputs {
    all_results results;
    opened_sinks opened{};
    session_monitor monitor{};
    silent_units* silent = nullptr;  // one of the sinks
    std::unique_ptr<metrics_server> metrics{};
    std::unique_ptr<dashboard> page{};

    outputs(const live_options& options, const session_options& analysis,
            const result_takers& takers, const execution& run, std::uint64_t spikes)
        : results(run, spikes) {
        auto watched = std::make_unique<silent_units>(analysis);
        silent = watched.get();
        results.add(std::move(watched));
        if (options.metrics > 0) metrics = std::make_unique<metrics_server>(options.metrics);
        if (const auto& most = analysis.triggers.max_false_alarms)
            results.add(
                std::make_unique<false_alarm_limit>(analysis.armed, analysis.patterns, *most));
        opened = open_sinks(options, analysis, takers.print, run.stop, results);
        if (takers.take)
            results.add(std::make_unique<event_results>(analysis.armed, analysis.patterns,
                                                        takers.take, opened.reports));
        if (options.dashboard) {
            page =
                std::make_unique<dashboard>(analysis, monitor, results, options.dashboard_address);
            options.dashboard(page->address());
        }
        if (metrics)
            metrics->serve([this] {
                return metrics_text(monitor.state(), opened.reports, resident_memory_bytes(),
                                    std::chrono::steady_clock::now());
            });
    }
};

std::string name_of(const delivery_report& destination) {
    return destination.to() == "-" ? "standard output" : destination.to();
}

std::optional<delays> delays_of(const latency_histogram& sorting) {
    if (sorting.count() == 0) return {};
    const auto within_ms = [&](double share) { return 1e3 * sorting.within_s(share); };
    return delays{
        .median_ms = within_ms(0.5), .p99_ms = within_ms(0.99), .p999_ms = within_ms(0.999)};
}

live_result result_of(const session_counts& counts, const outputs& to, const source& from,
                      std::vector<std::string> warnings) {
    for (const auto& one : to.opened.queues) one->finish();
    const sampling_state samples = from.sampling().value_or(sampling_state{});
    warnings.insert(warnings.begin(), samples.warnings.begin(), samples.warnings.end());
    if (const std::string first = from.first_unreadable(); !first.empty())
        warnings.push_back(fmt::format("The first message that could not be read: {}", first));
    if (std::string silent = to.silent->warning(); !silent.empty())
        warnings.push_back(std::move(silent));
    for (const auto& one : to.opened.reports)
        if (one->lost() > 0)
            warnings.push_back(fmt::format("{} did not take {} of {} results: {}", name_of(*one),
                                           one->lost(), one->lost() + one->delivered(),
                                           one->reason()));
    return {.units = to.results.units(),
            .spikes = counts.order.accepted,
            .late = counts.order.late,
            .duplicates = counts.order.duplicates,
            .missing = counts.missing - counts.belated,
            .unreadable = counts.unreadable,
            .epochs = counts.epochs,
            .detections = counts.detections,
            .triggers = counts.triggers(),
            .windows = counts.windows,
            .incomplete = counts.incomplete,
            .skipped = counts.skipped,
            .monitored = counts.monitored,
            .patterns = counts.patterns,
            .armed = counts.arming ? counts.arming->armed : 0,
            .late_changes = counts.arming ? counts.arming->late : 0,
            .untested = counts.untested,
            .undelivered = undelivered_by(to.opened.reports),
            .left_out = samples.left_out,
            .most_behind_s = samples.most_behind_s,
            .sorting = delays_of(samples.sorting),
            .warnings = std::move(warnings)};
}

source_kind kind_of(const std::string& from) {
    if (is_own_stream(from)) return source_kind::own_stream;
    return is_stream(from) ? source_kind::stream : source_kind::played;
}

void check_arming(const live_options& options) {
    if (!options.arming.arm) return;
    if (!options.windows) throw invalid_argument("arm", "no windows are mined");
    check_deciding_windows(options.window);
}

void check_speed(const live_options& options, source_kind kind) {
    const bool is_usual = options.speed == live_options().speed;
    if (kind == source_kind::blocks && !is_usual && options.speed != 0)
        throw invalid_argument("speed", "blocks come at their own speed, or as fast as possible");
    if ((kind == source_kind::stream || kind == source_kind::own_stream) && !is_usual)
        throw invalid_argument("speed", "a stream comes at its own speed");
    if (options.realtime && options.speed == 0)
        throw invalid_argument("realtime", "spikes come as fast as possible");
}

void check_resume(const live_options& options, source_kind kind) {
    if (options.resume.empty()) return;
    if (kind != source_kind::stream && kind != source_kind::own_stream && options.templates.empty())
        throw invalid_argument("resume", "only a stream goes on; a file can be analysed again");
    if (!options.armed.empty())
        throw invalid_argument("resume", "cannot be given together with `episodes`");
}

std::unique_ptr<realtime_thread> realtime_if(bool wanted) {
    return wanted ? std::make_unique<realtime_thread>() : nullptr;
}

session_counts run_monitored(source& from, session& through, outputs& to, const execution& run,
                             const std::stop_token& abort) {
    monitored_source monitored(from, through, to.monitor, to.results);
    run_session(monitored, through, run, abort);
    return through.counts();
}

session_counts run_session_of(source& from, const session_options& analysis, outputs& to,
                              const execution& run, const std::stop_token& abort) {
    session through(from.unit_names(), analysis, to.results);
    return run_monitored(from, through, to, run, abort);
}

session_counts record_session(source& from, const session_options& analysis, outputs& to,
                              const std::filesystem::path& path, const execution& run,
                              const std::stop_token& abort) {
    session_log log(path, {from.unit_names(), analysis});
    recorded_source recorded_from(from, log);
    recorded_results recorded(to.results, log);
    session through(from.unit_names(), analysis, recorded);
    return run_monitored(recorded_from, through, to, run, abort);
}

// Spikes that were sent meanwhile are unknown, and count as one lost message, unless their sender
// repeats everything that was not acknowledged, or samples have numbers.
live_result resume_live(const std::string& from, const live_options& options,
                        const result_takers& takers, const execution& run,
                        const std::stop_token& abort) {
    const auto before_others = realtime_if(options.realtime);
    const session_options recorded = session_file(options.resume).header().analysis;
    outputs to(options, recorded, takers, run, 0);
    execution how = run;
    how.on_progress = {};
    how.stop = abort;
    const episode_window_options windows = recorded.windows.value_or(options.window);
    to.results.hold_reactions(true);
    const resumed_session resumed =
        resume_session(options.resume, to.results, {}, how,
                       {pace_of(options, windows), {options.track_every, windows.length}});
    to.results.hold_reactions(false);
    const auto watermark_us = resumed.through->order().watermark();
    const opened_source opened = open_again(from, options,
                                            {resumed.header.unit_names, resumed.senders,
                                             watermark_us, session_file(options.resume).motion()},
                                            run);
    if (opened.from->unit_names() != resumed.header.unit_names)
        throw invalid_argument("templates",
                               "the session has other units: give its file and its `labels`");
    const bool knows_missing = !is_stream(from) || (has_samples(from, options) && watermark_us);
    if (!knows_missing &&
        (!is_own_stream(from) || (resumed.senders.empty() && resumed.inputs > 0))) {
        const source_block gap{.missing = 1};
        resumed.log->record(gap);
        resumed.through->take(gap, how);
    }
    recorded_source recorded_from(*opened.from, *resumed.log);
    how.stop = run.stop;
    return result_of(run_monitored(recorded_from, *resumed.through, to, how, abort), to,
                     *opened.from, opened.warnings);
}

std::string verification_line(const verification& found) {
    std::string late;
    for (const arming_change& one : found.late)
        fmt::format_to(std::back_inserter(late),
                       R"({}{{"window":{},"window_epoch":{},"due_us":{},"t_us":{}}})",
                       late.empty() ? "" : ",", one.window, one.due.epoch, one.due.time_us,
                       one.from.time_us);
    std::string arming;
    if (found.armings > 0)
        arming = fmt::format(R"(,"decisions":{},"late":[{}])", found.armings, late);
    return fmt::format(R"({{"type":"verification","blocks":{},"detections":{},"windows":{}{}}})"
                       "\n",
                       found.inputs, found.detections, found.windows, arming);
}

void write_whole(const line_taker& write, std::string_view text, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds between_tries{5};
    while (!text.empty() && !stop.stop_requested()) {
        const std::size_t taken = write(text);
        text.remove_prefix(taken);
        if (taken == 0) std::this_thread::sleep_for(between_tries);
    }
}

live_result verify_live(const std::filesystem::path& path, const line_taker& write,
                        const execution& run) {
    const verification found = verify_session(path, run);
    if (!found.difference.empty())
        throw io_error(fmt::format("'{}': {}", path.string(), found.difference));
    if (write) write_whole(write, verification_line(found), run.stop);
    return {.detections = static_cast<std::uint64_t>(found.detections),
            .windows = static_cast<std::uint64_t>(found.windows)};
}

// A session that has learned its units goes on with them.
live_options with_own_templates(live_options options) {
    if (!options.resume.empty() && options.templates.empty() &&
        session_file(options.resume).has_templates())
        options.templates = options.resume;
    return options;
}

live_result run_named(const std::string& from, const live_options& wanted,
                      const result_takers& takers, const execution& run,
                      const std::stop_token& abort) {
    const live_options options = with_own_templates(wanted);
    check_live_options(options, kind_of(from));
    execution how = run;
    how.threads = options.threads;
    if (options.verify) return verify_live(from, takers.print, how);
    if (!options.resume.empty()) return resume_live(from, options, takers, how, abort);
    return run_source(open_source(from, options, how), options, takers, run, abort);
}

}  // namespace

std::string dashboard_notice(const live_options& options, std::string_view address) {
    if (live::is_loopback("listen", options.dashboard_address)) return {};
    const std::string_view port = address.substr(address.rfind(':') + 1);
    return fmt::format(
        "other computers reach this page, and what it shows is sent unencrypted, as is its "
        "address. Without `listen`, ssh -L {0}:127.0.0.1:{0} HOST shows it to whoever can log in",
        port.substr(0, port.find('/')));
}

void live::check_live_options(const live_options& options, source_kind kind) {
    check_options(options);
    check_arming(options);
    static_cast<void>(is_loopback("listen", options.dashboard_address));
    const bool has_episodes = !options.episodes.empty() || !options.armed.empty();
    const bool is_recorded = !options.resume.empty() || options.verify;
    if (!options.windows && !has_episodes && options.patterns.empty() && !is_recorded)
        throw invalid_argument("without windows, `episodes` and `patterns` there is nothing to do");
    if (!options.windows && !options.window_table.empty())
        throw invalid_argument("window_table", "no windows are mined");
    if (options.sources > 1 && kind != source_kind::own_stream)
        throw invalid_argument("sources", "only programs that send spikes are waited for");
    if (options.track_every > duration{0} && !has_episodes && options.resume.empty())
        throw invalid_argument("track_every", "no episodes are armed");
    if (!options.templates.empty() && (kind == source_kind::blocks || options.verify))
        throw invalid_argument("templates", "the source has spikes, no samples");
    check_speed(options, kind);
    check_resume(options, kind);
}

live_result live::run_source(opened_source opened, const live_options& options,
                             const result_takers& takers, const execution& run,
                             const std::stop_token& abort) {
    const auto before_others = realtime_if(options.realtime);
    session_options analysis{.armed = std::move(opened.armed),
                             .detector = {.ties = options.window.mining.ties},
                             .patterns = std::move(opened.patterns),
                             .triggers = options.triggers};
    analysis.order = options.order ? parse_order(*options.order) : opened.order;
    if (options.arming.arm) analysis.arming = {options.arming, options.triggers.max_false_alarms};
    if (opened.has_checked_rates) analysis.triggers.max_false_alarms.reset();
    if (options.windows) analysis.windows = options.window;
    analysis.pace = pace_of(options, options.window);
    analysis.tracking = {options.track_every, options.window.length};
    outputs to(options, analysis, takers, run, opened.spikes);
    execution how = run;
    how.threads = options.threads;
    how.on_progress = {};
    const session_counts counts =
        options.record.empty()
            ? run_session_of(*opened.from, analysis, to, how, abort)
            : record_session(*opened.from, analysis, to, options.record, how, abort);
    return result_of(counts, to, *opened.from, std::move(opened.warnings));
}

live_result run_live(const std::string& from, const live_options& options, const line_taker& print,
                     const execution& run, const std::stop_token& abort) {
    return run_named(from, options, {.print = print}, run, abort);
}

live_result run_live(const std::string& from, const live_options& options,
                     const std::function<void(live_event)>& take, const execution& run,
                     const std::stop_token& abort) {
    live_result result = run_named(from, options, {.take = take}, run, abort);
    take(result);
    return result;
}

}  // namespace spikeweave
