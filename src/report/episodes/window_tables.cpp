#include "report/episodes/window_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/view.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/live/window_table.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace report {
namespace {

constexpr double alpha_of_page = 0.05;

double alpha_of_tests(const windowed_episode_report& report) {
    return report.result.options.search.significance.alpha;
}

std::size_t significant_in(const tested_window& window, double alpha) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < window.tests.size(); ++i)
        number += window.table.episodes[i].what.size() > 1 && window.tests[i].q < alpha ? 1 : 0;
    return number;
}

}  // namespace

json run_of_windows(const windowed_episode_report& report) {
    const windowed_episode_options& options = report.result.options;
    json out = run_json(report.run, verdict_of(report), contents_of(report.spikes));
    out["search"] = {{"windows", report.result.windows.size()},
                     {"ties", to_string(options.search.mining.ties)}};
    out["search"]["mean_stability"] = or_null(mean_stability(report.result.windows));
    if (report.result.changes) out["search"]["change_points"] = change_points_json(report);
    out["significance"] = {{"test", to_string(options.search.significance.test)},
                           {"correction", to_string(options.search.significance.correction)},
                           {"alpha", alpha_of_tests(report)}};
    return out;
}

namespace {

std::uint64_t window_number(const tested_window& window) {
    return static_cast<std::uint64_t>(window.bounds.number);
}

row window_row(const windowed_episode_report& report, const tested_window& one) {
    row out{{"window", window_number(one), "the number of the window"},
            {"begin_s", exact_time{one.bounds.begin}, "where it begins and ends (excluded)"},
            {"end_s", exact_time{one.bounds.end}},
            {"spikes", std::uint64_t{one.spikes}, "number of spikes in it"},
            {"threshold", one.table.threshold, "the least count of a frequent episode"},
            {"episodes", std::uint64_t{one.table.episodes.size()},
             "number of frequent episodes, and of significant ones of two units or more"},
            {"significant", std::uint64_t{significant_in(one, alpha_of_tests(report))}},
            {"edges", std::uint64_t{one.circuit.edges.size()},
             "numbers of edges and chains of its circuit"},
            {"chains", std::uint64_t{one.circuit.chains.size()}}};
    const auto known = [&](auto value) {
        return one.stability ? std::optional(value) : std::nullopt;
    };
    const circuit_stability both = one.stability ? one.stability->both : circuit_stability{};
    std::optional<std::uint64_t> since;
    if (one.stability) since = window_number(report.result.windows[one.stability->since]);
    out.push_back({"since", since, "the window that the circuit is compared with"});
    out.push_back(
        {"common", known(std::uint64_t{both.common}), "pairs of units that both circuits connect"});
    out.push_back({"jaccard", both.jaccard,
                   "these pairs as a share of those that either connects, and that by chance"});
    out.push_back({"jaccard_expected", both.expected});
    out.push_back({"stability", both.index, "1: the same, 0: as by chance"});
    out.push_back(
        {"stability_p", known(both.p), "the probability that chance gives as many common pairs"});
    return out;
}

// An item of all windows, such as an episode, and whose it is.
struct item_of_window {
    const tested_window* window;
    std::size_t item;
};

template <class Size>
std::vector<item_of_window> items_of(const windowed_episode_report& report, const Size& size) {
    std::vector<item_of_window> all;
    for (const tested_window& one : report.result.windows)
        for (std::size_t i = 0; i < size(one); ++i) all.push_back({&one, i});
    return all;
}

row window_episode_row(const windowed_episode_report& report, const item_of_window& at) {
    const auto& [what, count] = at.window->table.episodes[at.item];
    const episode_test& test = at.window->tests[at.item];
    row out = counted_row(window_number(*at.window), {what, count});
    out.front().name = "window";
    for (column& one : described_row(test)) out.push_back(std::move(one));
    out.push_back({"significant", what.size() > 1 && test.q < alpha_of_tests(report)});
    out.push_back({"chain", std::ranges::find(at.window->circuit.chains, at.item) !=
                                at.window->circuit.chains.end()});
    return out;
}

row window_edge_row(std::uint64_t window, const circuit_edge& edge) {
    row out{{"window", window}};
    for (column& one : described_row(edge)) out.push_back(std::move(one));
    return out;
}

// A row without its first columns.
row after(row columns, std::size_t first) {
    columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(first));
    return columns;
}

json window_json(const windowed_episode_report& report, const tested_window& window) {
    const std::vector<std::string>& names = report.spikes.unit_names();
    json episodes = json::array();
    for (std::size_t i = 0; i < window.tests.size(); ++i)
        episodes.push_back(json_of(after(window_episode_row(report, {&window, i}), 2), names));
    json out{{"window", window.bounds.number},
             {"begin_s", to_seconds(window.bounds.begin)},
             {"end_s", to_seconds(window.bounds.end)},
             {"spikes", window.spikes},
             {"threshold", window.table.threshold},
             {"episodes", std::move(episodes)},
             {"edges", rows_of(described_table("circuit", window.circuit.edges), names)},
             {"stability", nullptr}};
    if (!window.stability) return out;
    const circuit_stability& both = window.stability->both;
    out["stability"] =
        json_of(row{{"since", window_number(report.result.windows[window.stability->since])},
                    {"common", std::uint64_t{both.common}},
                    {"jaccard", both.jaccard},
                    {"jaccard_expected", both.expected},
                    {"stability", both.index},
                    {"p", both.p}});
    return out;
}

json change_json(const circuit_changes& changes, const measured_change& of) {
    exact_time time;
    if (of.point) time.value = changes.windows[of.point->at].begin;
    return json_of(row{{"time_s", time},
                       {"before", of.before},
                       {"after", of.after},
                       {"p", of.point ? std::optional(of.point->p) : std::nullopt},
                       {"q", of.q}});
}

json changes_json(const circuit_changes& changes, std::span<const std::string> names) {
    json out = json::array();
    for (const finding_change& one : changes.findings) {
        out.push_back(json_of(row{{"units", joined_list<unit_id>{one.what.units, "→"}},
                                  {"delays", one.what.delays},
                                  {"change", to_string(one.change)}},
                              names));
        out.back()["rate"] = change_json(changes, one.rate);
        out.back()["excess"] = change_json(changes, one.excess);
    }
    return out;
}

}  // namespace

result_table windows_table(const windowed_episode_report& report) {
    const auto& windows = report.result.windows;
    return {"windows", windows.size(),
            [&](std::size_t i) { return window_row(report, windows[i]); }, window_row(report, {})};
}

result_table window_episodes_table(const windowed_episode_report& report) {
    auto all = items_of(report, [](const tested_window& one) { return one.tests.size(); });
    tested_window none;
    none.table.episodes.resize(1);
    none.tests.resize(1);
    return {.name = "window_episodes",
            .size = all.size(),
            .at = [&report, all = std::move(all)](
                      std::size_t k) { return window_episode_row(report, all[k]); },
            .names = window_episode_row(report, {&none, 0}),
            .use = table_use::document_only};
}

result_table window_circuits_table(const windowed_episode_report& report) {
    auto all = items_of(report, [](const tested_window& one) { return one.circuit.edges.size(); });
    return {"window_circuits", all.size(),
            [all](std::size_t k) {
                return window_edge_row(window_number(*all[k].window),
                                       all[k].window->circuit.edges[all[k].item]);
            },
            window_edge_row(0, {})};
}

void write_window_episodes(const windowed_episode_report& report,
                           const std::function<void(std::string_view)>& write,
                           const execution& run) {
    constexpr std::size_t before_tests = 5;
    const auto tests_of = [&](const item_of_window& at) {
        return after(window_episode_row(report, at), before_tests);
    };
    write(fmt::format("{}\t{}\n", window_table_columns(),
                      tsv_heading(after(window_episodes_table(report).names, before_tests))));
    for (const tested_window& one : report.result.windows) {
        core::throw_if_stopped(run.stop);
        std::string lines;
        for (std::size_t i = 0; i < one.tests.size(); ++i)
            fmt::format_to(std::back_inserter(lines), "{}\t{}\n",
                           window_table_line(0, one.bounds, false, one.table.episodes[i],
                                             report.spikes.unit_names()),
                           tsv_line(tests_of({&one, i})));
        write(lines);
    }
}

document document_of(const windowed_episode_report& report) {
    document out{.kind = "windows",
                 .run = run_of_windows(report),
                 .unit_names = report.spikes.unit_names(),
                 .values = {{"spikes", page_spikes(report.spikes)}},
                 .tables = {windows_table(report), window_episodes_table(report),
                            window_circuits_table(report)}};
    if (report.result.changes) out.tables.push_back(change_points_table(report));
    return out;
}

}  // namespace report

windowed_episode_report report_of(spike_sequence spikes, windowed_episode_result result,
                                  const execution& run) {
    windowed_episode_report report{.spikes = std::move(result.chosen ? *result.chosen : spikes),
                                   .result = std::move(result)};
    windowed_episode_options& options = report.result.options;
    report::record_result(report.run, report.result, describe(options),
                          options.search.surrogates.seed, run, options.search.run.threads,
                          options.search.run.devices.value_or(std::vector<int>{}));
    return report;
}

std::string verdict_of(const windowed_episode_report& report) {
    const auto& windows = report.result.windows;
    std::size_t least = windows.empty() ? 0 : windows.front().circuit.edges.size();
    std::size_t most = 0;
    std::size_t with_chains = 0;
    for (const tested_window& one : windows) {
        const auto connections = static_cast<std::size_t>(
            std::ranges::count_if(one.circuit.edges, &circuit_edge::is_connection));
        least = std::min(least, connections);
        most = std::max(most, connections);
        with_chains += one.circuit.chains.empty() ? 0 : 1;
    }
    std::string text =
        fmt::format("{} among {} in each of {}, {}",
                    least == most ? report::plural(most, "connection", "connections")
                                  : report::range_text(least, most) + " connections",
                    report::plural(report.spikes.unit_count(), "unit", "units"),
                    report::plural(windows.size(), "window", "windows"),
                    with_chains == 0 ? "no chain" : "chains in " + core::grouped(with_chains));
    if (const std::optional<double> mean = mean_stability(windows))
        text += fmt::format("; mean stability of the circuit {:.2f}", *mean);
    if (const auto& changes = report.result.changes)
        text += fmt::format("; the circuit changes at {}, firing rates at {}",
                            report::plural(changes->circuit.found.size(), "time", "times"),
                            report::plural(changes->firing_rates.found.size(), "time", "times"));
    return report::with_warnings(text + ".", report.run.warnings.size());
}

void write_report(const std::filesystem::path& folder, const windowed_episode_report& report,
                  bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    io::atomic_file episodes(out.file("window_episodes.tsv"));
    report::write_window_episodes(
        report, [&](std::string_view piece) { episodes.write(piece); }, run);
    episodes.commit();
    const report::document document = report::document_of(report);
    report::write_result(out, document, false, run);
    if (report.with_page && report.spikes.size() <= report::most_spikes_of_a_page)
        out.write("report.html",
                  page_of(report::window_page_text(report.result.windows, report.spikes,
                                                   document.run, report::alpha_of_page, run)));
    out.commit(run.stop);
}

std::string document_of(const windowed_episode_report& report, const execution& run) {
    return report::whole_text(report::document_of(report), run);
}

std::string to_json(const windowed_episode_report& report) {
    report::json windows = report::json::array();
    for (const tested_window& one : report.result.windows)
        windows.push_back(report::window_json(report, one));
    report::json out{{"run", report::run_of_windows(report)}, {"windows", std::move(windows)}};
    if (report.result.changes)
        out["changes"] = report::changes_json(*report.result.changes, report.spikes.unit_names());
    return report::text_of(out);
}

std::string summarize(const windowed_episode_report& report) {
    std::string out = verdict_of(report) + "\n";
    out += fmt::format("{:>12} {:>12} {:>10} {:>9} {:>9} {:>11} {:>6} {:>6} {:>9}\n", "begin",
                       "end", "spikes", "threshold", "episodes", "significant", "edges", "chains",
                       "stability");
    for (const tested_window& one : report.result.windows)
        fmt::format_to(std::back_inserter(out),
                       "{:>12} {:>12} {:>10} {:>9} {:>9} {:>11} {:>6} {:>6} {:>9}\n",
                       report::time_text(one.bounds.begin), report::time_text(one.bounds.end),
                       core::grouped(one.spikes), core::grouped(one.table.threshold),
                       core::grouped(one.table.episodes.size()),
                       core::grouped(report::significant_in(one, report::alpha_of_tests(report))),
                       one.circuit.edges.size(), one.circuit.chains.size(),
                       one.stability && one.stability->both.index
                           ? fmt::format("{:.2f}", *one.stability->both.index)
                           : "-");
    return out + report::stability_text(report) + report::changes_text(report);
}

}  // namespace spikeweave
