#include "report/live/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/document.hpp"
#include "report/episodes/window_series.hpp"
#include "report/page_spikes.hpp"
#include "report/text.hpp"
#include "spikeweave/assess/episodes.hpp"
#include "spikeweave/live/recorded_session.hpp"
#include "spikeweave/live/run.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::report {
namespace {

// A browser lists and marks more of them slowly.
constexpr std::size_t most_detections_of_a_page = 200'000;

json armed_json(const session_armed& one) {
    json lags = json::array();
    for (const duration lag : one.lags) lags.push_back(ms(lag));
    return {{"units", one.units},
            {"delays_ms", ms(one.delays)},
            {"lags_ms", std::move(lags)},
            {"fire_at", one.fire_at},
            {"is_automatic", one.is_automatic}};
}

// The columns `epoch`, `armed`, `times_us` and `suppressed` of the first detections.
json detections_json(const std::vector<session_detection>& detections) {
    const std::size_t shown = std::min(detections.size(), most_detections_of_a_page);
    json out{{"total", detections.size()}};
    out.update(
        columns_of({"epoch", "armed", "times_us", "suppressed"}, std::span(detections).first(shown),
                   [](const session_detection& one) {
                       return json::array({one.epoch, one.armed, one.times_us, one.suppressed});
                   }));
    return out;
}

json changes_json(const std::vector<session_change>& changes) {
    json all = json::array();
    for (std::size_t i = 0; i < std::min(changes.size(), most_rows_of_a_page); ++i) {
        const session_change& one = changes[i];
        all.push_back({{"epoch", one.epoch},
                       {"from_us", or_null(one.from_us)},
                       {"change", one.change},
                       {"what", armed_json(one.what)},
                       {"armed", or_null(one.number)},
                       {"window_epoch", one.window_epoch},
                       {"window", one.window},
                       {"is_late", one.is_late},
                       {"per_minute", or_null(one.per_minute)}});
    }
    return {{"total", changes.size()}, {"rows", std::move(all)}};
}

session_loss sum_of(const std::vector<session_loss>& losses) {
    session_loss sum;
    for (const session_loss& one : losses) {
        sum.missing += one.missing;
        sum.unreadable += one.unreadable;
        sum.late += one.late;
        sum.unrecorded += one.unrecorded;
    }
    return sum;
}

json losses_json(const std::vector<session_loss>& losses) {
    const session_loss sum = sum_of(losses);
    json rows = json::array();
    for (const session_loss& one : losses)
        if (rows.size() < most_rows_of_a_page)
            rows.push_back({{"epoch", one.epoch},
                            {"begin_us", one.begin_us},
                            {"end_us", one.end_us},
                            {"missing", one.missing},
                            {"unreadable", one.unreadable},
                            {"late", one.late},
                            {"unrecorded", one.unrecorded}});
    return {{"total", losses.size()},       {"missing", sum.missing},
            {"unreadable", sum.unreadable}, {"late", sum.late},
            {"unrecorded", sum.unrecorded}, {"rows", std::move(rows)}};
}

// The warnings that the session gave when it ended, and those of its file.
std::vector<std::string> warnings_of(const session_content& content, const json& windows) {
    const session_loss lost = sum_of(content.losses);
    live_result result{.late = lost.late, .missing = lost.missing, .unreadable = lost.unreadable};
    for (const json& window : windows) {
        const json& complete_to = window.at("complete_to_size");
        if (complete_to == 0) ++result.skipped;
        if (complete_to > 0) ++result.incomplete;
    }
    std::vector<std::string> warnings = loss_warnings(result);
    for (std::string& one : warnings) one = with_command_line_names(one) + ".";
    if (lost.unrecorded > 0)
        warnings.push_back(
            fmt::format("{} are not in the file.", plural(lost.unrecorded, "record", "records")));
    if (!content.has_ended)
        warnings.emplace_back(
            "The session has not ended: it was interrupted, or it still ran when this page was "
            "made. Detections and windows of the last moment may be missing.");
    return warnings;
}

// The session in a sentence: the one in which `live` ended.
std::string sentence_of(const session_content& content, std::size_t windows) {
    live_result result{.units = content.epochs.front().unit_count(),
                       .detections = content.detections.size(),
                       .windows = windows,
                       .monitored = content.armed.size()};
    for (const spike_sequence& epoch : content.epochs) result.spikes += epoch.size();
    result.triggers = static_cast<std::uint64_t>(std::ranges::count_if(
        content.detections, [](const session_detection& one) { return one.suppressed.empty(); }));
    result.patterns = static_cast<std::uint64_t>(std::ranges::count_if(
        content.armed, [](const session_armed& one) { return !one.lags.empty(); }));
    return summarize(result);
}

json run_json_of(const std::filesystem::path& path, const session_content& content,
                 const json& windows, std::size_t number, const std::vector<std::string>& more,
                 const execution& run) {
    const input_record input = describe_input(path, run);
    std::vector<std::string> warnings = warnings_of(content, windows);
    const auto skipped = static_cast<std::size_t>(std::ranges::count_if(
        windows, [](const json& window) { return window.at("complete_to_size") == 0; }));
    warnings.insert(warnings.end(), more.begin(), more.end());
    return {{"spikeweave", content.program},
            {"summary", with_warnings(sentence_of(content, number - skipped), warnings.size())},
            {"command", ""},
            {"parameters", parameters_json(content.asked)},
            {"input", {{"path", input.path}, {"digest", input.digest}, {"warnings", warnings}}}};
}

// The spikes of each epoch; of all together only the newest ones, if there are too many.
json epochs_json(const std::vector<spike_sequence>& epochs, std::size_t left_out) {
    json all = json::array();
    for (const spike_sequence& epoch : epochs) {
        const std::size_t without = std::min(left_out, epoch.size());
        left_out -= without;
        all.push_back(page_spikes(epoch, without));
        all.back()["left_out"] = without;
    }
    return all;
}

}  // namespace

page_content session_page(const std::filesystem::path& path, double alpha, const execution& run,
                          std::size_t most_spikes) {
    recorded_session session(path, run);
    const session_content& content = session.content();
    const significance_options tests;
    const episode_window_options how = content.windows.value_or(episode_window_options{});
    window_series series(content.epochs, how.mining.ties, tests.alpha);
    const std::size_t every = windows_left_out_for_a_page(session.window_count());
    session.each_window(
        [&](session_window&& window) {
            if (window.is_skipped()) {
                series.add(window.epoch, window.has_gap, window.mined, {}, {});
                return;
            }
            const spike_sequence spikes =
                spikes_of_window(content.epochs[window.epoch], window.mined.bounds);
            restore_levels(window.mined.table, spikes.unit_count(), how.mining);
            const episode_test_result tested = test_episodes(
                spikes, window.mined.table, {.delays = how.mining.delays}, tests, {}, run);
            series.add(window.epoch, window.has_gap, window.mined, tested.assessed, tested.circuit);
        },
        every, run);
    std::size_t spikes = 0;
    for (const spike_sequence& epoch : content.epochs) spikes += epoch.size();
    const std::size_t left_out = spikes - std::min(spikes, most_spikes);
    page_content made;
    made.warnings = content.warnings;
    if (left_out > 0)
        made.warnings.push_back(
            fmt::format("Of {} spikes the page has the newest {}, so its raster lacks those "
                        "before; its windows and detections are of the whole session.",
                        core::grouped(spikes), core::grouped(most_spikes)));
    json document = head_of("session");
    document.update({{"alpha", alpha},
                     {"ties", to_string(how.mining.ties)},
                     {"unit_names", content.epochs.front().unit_names()},
                     {"epochs", epochs_json(content.epochs, left_out)},
                     {"tests",
                      {{"test", to_string(tests.test)},
                       {"correction", to_string(tests.correction)},
                       {"alpha", tests.alpha}}},
                     {"window_total", session.window_count()},
                     {"every", every}});
    document.update(series.finish(alpha, run));
    json armed = json::array();
    for (const session_armed& one : content.armed) armed.push_back(armed_json(one));
    document["armed"] = std::move(armed);
    document["detections"] = detections_json(content.detections);
    document["arming"] = changes_json(content.changes);
    document["losses"] = losses_json(content.losses);
    document["duplicates"] = content.duplicates;
    document["repeated"] = content.repeated;
    document["has_ended"] = content.has_ended;
    document["run"] = run_json_of(path, content, document.at("windows"), session.window_count(),
                                  made.warnings, run);
    made.data = compact(document);
    return made;
}

}  // namespace spikeweave::report
