#include <set>
#include <utility>

#include "report/columns.hpp"
#include "report/episodes/search_json.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/run_json.hpp"

namespace spikeweave {
namespace report {
namespace {

json known(const std::optional<double>& value) {
    return value ? json(*value) : json();
}

json episodes_of_window(const tested_window& window, double alpha,
                        std::span<const std::string> names) {
    const std::set<std::size_t> chains(window.circuit.chains.begin(), window.circuit.chains.end());
    json out = json::array();
    for (std::size_t i = 0; i < window.tests.size(); ++i) {
        const auto& [what, count] = window.table.episodes[i];
        json one{{"units", names_json(names, what.units)},
                 {"delays_ms", ms(what.delays)},
                 {"count", count}};
        one.update(json_of(window.tests[i]));
        one["significant"] = what.size() > 1 && window.tests[i].q < alpha;
        one["chain"] = chains.contains(i);
        out.push_back(std::move(one));
    }
    return out;
}

json stability_json(const windowed_episode_report& report, const window_stability& of) {
    const circuit_stability& both = of.both;
    return {{"since", report.result.windows[of.since].bounds.number},
            {"common", both.common},
            {"jaccard", known(both.jaccard)},
            {"jaccard_expected", known(both.expected)},
            {"stability", known(both.index)},
            {"p", both.p}};
}

json window_json(const windowed_episode_report& report, const tested_window& window) {
    const auto& names = report.spikes.unit_names();
    return {{"window", window.bounds.number},
            {"begin_s", to_seconds(window.bounds.begin)},
            {"end_s", to_seconds(window.bounds.end)},
            {"spikes", window.spikes},
            {"threshold", window.table.threshold},
            {"episodes",
             episodes_of_window(window, report.result.options.search.significance.alpha, names)},
            {"edges", rows_of(described_table("circuit", window.circuit.edges), names)},
            {"stability", window.stability ? stability_json(report, *window.stability) : json()}};
}

json change_json(const circuit_changes& changes, const measured_change& of) {
    return {{"time_s", of.point ? json(to_seconds(changes.windows[of.point->at].begin)) : json()},
            {"before", of.before},
            {"after", of.after},
            {"p", of.point ? json(of.point->p) : json()},
            {"q", of.q}};
}

json changes_json(const circuit_changes& changes, std::span<const std::string> names) {
    json out = json::array();
    for (const finding_change& one : changes.findings)
        out.push_back({{"units", names_json(names, one.what.units)},
                       {"delays_ms", ms(one.what.delays)},
                       {"change", to_string(one.change)},
                       {"rate", change_json(changes, one.rate)},
                       {"excess", change_json(changes, one.excess)}});
    return out;
}

}  // namespace
}  // namespace report

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

}  // namespace spikeweave
