#include "report/episodes/window_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

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

void add_common_line(std::string& out, const circuit_changes& changes, std::string_view of,
                     const change_point& one, bool is_significant) {
    fmt::format_to(std::back_inserter(out), "{}\t-\t-\t-\t{:.6f}\t-\t-\t{}\t-\t{}\n", of,
                   seconds_at(changes, one), number_text(one.p), yes_no(is_significant));
}

void add_common(std::string& out, const circuit_changes& changes, std::string_view of,
                const change_points& points) {
    for (const change_point& one : points.found) add_common_line(out, changes, of, one, true);
    if (points.next) add_common_line(out, changes, of, *points.next, false);
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

std::string change_points_tsv(const windowed_episode_report& report) {
    const circuit_changes& changes = *report.result.changes;
    std::string out = "of\tsize\tunits\tdelays\ttime_s\tbefore\tafter\tp\tq\tsignificant\n";
    add_common(out, changes, "firing-rates", changes.firing_rates);
    add_common(out, changes, "circuit", changes.circuit);
    for (const finding_change& one : changes.findings) {
        const std::string what =
            fmt::format("{}\t{}\t{}", one.what.size(),
                        units_text(report.spikes.unit_names(), one.what), delays_text(one.what));
        for (const auto& [name, measure] :
             {std::pair("rate", &one.rate), std::pair("excess", &one.excess)})
            if (measure->point)
                fmt::format_to(std::back_inserter(out), "{}\t{}\t{:.6f}\t{}\t{}\t{}\t{}\t{}\n",
                               name, what, seconds_at(changes, *measure->point),
                               known_number(measure->before), known_number(measure->after),
                               number_text(measure->point->p), number_text(measure->q),
                               yes_no(measure->q < level_of(report)));
    }
    return out;
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
        text += fmt::format(
            "  {} {} at {:.3f} s: {:.3g} → {:.3g} beyond chance for a spike, q {}\n",
            units_text(report.spikes.unit_names(), what), delays_text(what),
            seconds_at(changes, *excess.point), excess.before, excess.after, p_text(excess.q));
    }
    if (changed.size() > shown)
        text += fmt::format("  {} more\n", core::grouped(changed.size() - shown));
    return text;
}

}  // namespace spikeweave::report
