#include "report/episodes/window_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/episodes/view.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

double level_of(const windowed_episode_report& report) {
    return report.result.options.changes.alpha;
}

double seconds_at(const circuit_changes& changes, const change_point& one) {
    return to_seconds(changes.windows[one.at].begin);
}

// A row of `change_points.tsv`, about all firing rates, the circuit, or one finding.
row change_row(std::string_view of, const episode* what, double time_s, double before, double after,
               double p, std::optional<double> q, bool is_significant) {
    const auto known = [](double value) {
        return std::isfinite(value) ? std::optional(value) : std::nullopt;
    };
    const bool is_one = what != nullptr;
    return {
        {"of", of,
         "`firing-rates` or `circuit` (all together: a line for each significant change and one "
         "for the most likely other), `rate` or `excess` (one edge or chain: a line for its most "
         "likely change)"},
        {"size", is_one ? std::optional<std::uint64_t>(what->size()) : std::nullopt,
         "the edge or chain, as in `episodes.tsv`"},
        is_one ? column{"units", joined_list<unit_id>{what->units, "→"}}
               : column{"units", std::string_view("-")},
        {"delays", is_one ? what->delays : std::vector<delay_interval>{}},
        {"time_s", fixed_number{time_s, 6}, "the beginning of the first window after the change"},
        {"before", known(before),
         "occurrences per second, or the excess, the probability that a spike of the first unit is "
         "followed beyond what the firing rates explain"},
        {"after", known(after)},
        {"p", p, "its p; q is corrected for all edges and chains"},
        {"q", q},
        {"significant", is_significant, "yes or no, at `--change-alpha`"}};
}

void add_common(std::vector<row>& out, const circuit_changes& changes, std::string_view of,
                const change_points& points) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const auto add = [&](const change_point& one, bool is_significant) {
        out.push_back(change_row(of, nullptr, seconds_at(changes, one), none, none, one.p, {},
                                 is_significant));
    };
    for (const change_point& one : points.found) add(one, true);
    if (points.next) add(*points.next, false);
}

json list_of_points(const circuit_changes& changes, const change_points& points) {
    json found = json::array();
    for (const change_point& one : points.found)
        found.push_back({{"time_s", seconds_at(changes, one)}, {"p", one.p}});
    return {{"found", found}, {"next_p", points.next ? json(points.next->p) : json()}};
}

std::string points_text(std::string_view what, const circuit_changes& changes,
                        const change_points& points) {
    std::string text;
    for (const change_point& one : points.found)
        text += fmt::format("{}{:.3f} s (p {})", text.empty() ? "" : ", ", seconds_at(changes, one),
                            p_text(one.p));
    if (!text.empty()) return fmt::format("{}: changed at {}\n", what, text);
    const std::string p = points.next ? fmt::format(" (p {})", p_text(points.next->p)) : "";
    return fmt::format("{}: no significant change{}\n", what, p);
}

}  // namespace

result_table change_points_table(const windowed_episode_report& report) {
    const circuit_changes& changes = *report.result.changes;
    std::vector<row> rows;
    add_common(rows, changes, "firing-rates", changes.firing_rates);
    add_common(rows, changes, "circuit", changes.circuit);
    for (const finding_change& one : changes.findings)
        for (const auto& [name, by] :
             {std::pair("rate", &one.rate), std::pair("excess", &one.excess)})
            if (by->point)
                rows.push_back(change_row(name, &one.what, seconds_at(changes, *by->point),
                                          by->before, by->after, by->point->p, by->q,
                                          by->q < level_of(report)));
    return {.name = "change_points",
            .size = rows.size(),
            .at = [rows](std::size_t i) { return rows[i]; },
            .names = change_row("", nullptr, 0, 0, 0, 0, {}, false),
            .use = table_use::file_only};
}

json change_points_json(const windowed_episode_report& report) {
    const circuit_changes& changes = *report.result.changes;
    const auto with = [&](change_kind kind) {
        return std::ranges::count(changes.findings, kind, &finding_change::change);
    };
    return {{"windows", changes.windows.size()},
            {"firing_rates", list_of_points(changes, changes.firing_rates)},
            {"circuit", list_of_points(changes, changes.circuit)},
            {"findings", changes.findings.size()},
            {"findings_with_other_excess", with(change_kind::excess)},
            {"findings_with_other_rate_only", with(change_kind::rate)}};
}

std::string stability_text(const windowed_episode_report& report) {
    const auto& windows = report.result.windows;
    const std::optional<double> mean = mean_stability(windows);
    if (!mean) return {};
    const auto number = std::ranges::count_if(windows, [](const tested_window& one) {
        return one.stability && one.stability->both.index;
    });
    return fmt::format(
        "stability of the circuit: {:.2f} on average over {} (0: as by chance, 1: the same)\n",
        *mean, plural(static_cast<std::size_t>(number), "comparison", "comparisons"));
}

std::string changes_text(const windowed_episode_report& report) {
    if (!report.result.changes) return {};
    const circuit_changes& changes = *report.result.changes;
    std::string text = points_text("firing rates", changes, changes.firing_rates);
    text += changes.findings.empty() ? "circuit: there is no edge or chain to follow\n"
                                     : points_text("circuit", changes, changes.circuit);
    std::vector<const finding_change*> changed;
    for (const finding_change& one : changes.findings)
        if (one.change == change_kind::excess) changed.push_back(&one);
    std::ranges::stable_sort(changed, {}, [](const finding_change* one) { return one->excess.q; });
    if (!changes.findings.empty())
        text += fmt::format("{} of {} edges and chains change beyond the firing rates\n",
                            core::grouped(changed.size()), core::grouped(changes.findings.size()));
    constexpr std::size_t shown = 10;
    for (std::size_t i = 0; i < std::min(shown, changed.size()); ++i) {
        const auto& [what, rate, excess, change] = *changed[i];
        text += fmt::format("  {} at {:.3f} s: {} → {} beyond chance for a spike, q {}\n",
                            chain_text(report.spikes.unit_names(), what),
                            seconds_at(changes, *excess.point), shown_number(excess.before),
                            shown_number(excess.after), p_text(excess.q));
    }
    if (changed.size() > shown)
        text += fmt::format("  {} more\n", core::grouped(changed.size() - shown));
    return text;
}

}  // namespace spikeweave::report
