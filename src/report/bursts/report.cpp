#include "spikeweave/report/bursts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/described_tables.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"

namespace spikeweave {
namespace {

std::optional<double> median_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The median over the units with bursts for which it is known.
std::optional<double> median_of_units(
    const burst_report& from,
    const std::function<std::optional<double>(const unit_bursting&)>& value) {
    std::vector<double> known;
    for (const unit_bursting& unit : from.found.units)
        if (const std::optional<double> one = value(unit); unit.bursts > 0 && one)
            known.push_back(*one);
    return median_of(std::move(known));
}

// The median over the network bursts.
std::optional<double> median_of_network(const burst_report& from,
                                        const std::function<double(const network_burst&)>& value) {
    std::vector<double> all;
    std::ranges::transform(from.found.network, std::back_inserter(all), value);
    return median_of(std::move(all));
}

std::uint64_t bursting_units(const burst_report& from) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        from.found.units, [](const unit_bursting& one) { return one.bursts > 0; }));
}

report::row summary_row(const burst_report& from) {
    const auto& units = from.found.units;
    const auto& network = from.found.network;
    const double seconds = to_seconds(from.spikes.observed_time());
    std::vector<double> rates;
    for (const unit_bursting& unit : units)
        if (unit.spikes > 0) rates.push_back(unit.rate_hz);
    return {{"unit_count", std::uint64_t{units.size()}, "number of units"},
            {"firing", std::uint64_t{rates.size()}, "those with a spike"},
            {"bursting", bursting_units(from), "those with a burst"},
            {"rate_hz", median_of(rates), "median rate of the units with a spike"},
            {"bursts_per_minute", median_of_units(from, &unit_bursting::bursts_per_minute),
             "medians over the units with a burst, of the columns of `units.tsv`"},
            {"share_in_bursts", median_of_units(from, &unit_bursting::share_in_bursts)},
            {"mean_duration_s", median_of_units(from, &unit_bursting::mean_duration_s)},
            {"mean_rate_hz", median_of_units(from, &unit_bursting::mean_rate_hz)},
            {"mean_interval_s", median_of_units(from, &unit_bursting::mean_interval_s)},
            {"interval_variation", median_of_units(from, &unit_bursting::interval_variation)},
            {"network_bursts", std::uint64_t{network.size()}, "bursts of the network"},
            {"network_bursts_per_minute",
             seconds > 0 ? 60 * static_cast<double>(network.size()) / seconds : 0},
            {"network_duration_s",
             median_of_network(
                 from, [](const network_burst& one) { return to_seconds(one.end - one.begin); }),
             "medians over them, of the columns of `network_bursts.tsv`"},
            {"participating", median_of_network(from,
                                                [](const network_burst& one) {
                                                    return static_cast<double>(one.participating);
                                                })},
            {"peak_rate_hz", median_of_network(from, &network_burst::peak_rate_hz)}};
}

report::row unit_row(const burst_report& from, std::size_t u) {
    const unit_bursting one = u < from.found.units.size() ? from.found.units[u] : unit_bursting{};
    return {{"unit", unit_id{static_cast<std::uint32_t>(u)}, "the unit"},
            {"spikes", one.spikes, "its spikes"},
            {"rate_hz", one.rate_hz, "its mean rate"},
            {"bursts", one.bursts, "its bursts"},
            {"bursts_per_minute", one.bursts_per_minute},
            {"share_in_bursts", one.share_in_bursts(), "share of its spikes that are in a burst"},
            {"mean_duration_s", one.mean_duration_s, "mean duration of its bursts"},
            {"mean_rate_hz", one.mean_rate_hz, "mean of the rates within its bursts"},
            {"mean_interval_s", one.mean_interval_s,
             "mean time from the end of a burst to the beginning of the next one"},
            {"interval_variation", one.interval_variation,
             "standard deviation of these times by their mean"},
            {"spike_variation", one.spike_variation,
             "the same of the intervals between its spikes: 1 for random spikes, more with bursts"},
            {"longest_interval", one.longest_interval,
             "the longest interval in its bursts; unknown if `log-isi` finds no short intervals"}};
}

report::row network_row(std::size_t i, const network_burst& one) {
    return {{"network_burst", std::uint64_t{i + 1}, "the number of the network burst, from 1"},
            {"begin_s", report::exact_time{one.begin}, "when enough units are in a burst"},
            {"end_s", report::exact_time{one.end}, "when they no longer are"},
            {"duration", std::optional(one.end - one.begin), "the time in between"},
            {"participating", one.participating, "number of units with a burst in this time"},
            {"spikes", one.spikes, "spikes of all units in this time"},
            {"peak_rate_hz", one.peak_rate_hz,
             "the most spikes of all units in 10 ms, as spikes in a second"},
            {"interval_s", report::exact_time{one.interval},
             "time since the end of the network burst before it in the same epoch"}};
}

report::row burst_row(const unit_burst& one) {
    std::optional<std::uint64_t> network;
    if (one.network) network = *one.network + 1;
    return {{"unit", one.unit, "the unit"},
            {"begin_s", report::exact_time{one.begin}, "time of the first spike"},
            {"end_s", report::exact_time{one.end}, "time of the last spike"},
            {"duration", std::optional(one.end - one.begin), "the time in between"},
            {"spikes", one.spikes, "its spikes"},
            {"rate_hz", one.rate_hz(), "intervals between its spikes by its duration"},
            {"interval_s", report::exact_time{one.interval},
             "time since the end of the unit's burst before it in the same epoch"},
            {"network_burst", network, "the number of the network burst that it takes part in"}};
}

report::result_table summary_table(const burst_report& from) {
    return {"summary", 1, [&](std::size_t) { return summary_row(from); }, summary_row(from)};
}

report::result_table bursting_table(const burst_report& from) {
    return {"units", from.found.units.size(), [&](std::size_t u) { return unit_row(from, u); },
            unit_row(from, 0)};
}

report::result_table network_table(const burst_report& from) {
    return {"network_bursts", from.found.network.size(),
            [&](std::size_t i) { return network_row(i, from.found.network[i]); },
            network_row(0, {})};
}

report::result_table bursts_table(const burst_report& from) {
    return {"bursts", from.found.bursts.size(),
            [&](std::size_t i) { return burst_row(from.found.bursts[i]); },
            burst_row({.end = duration{1}, .spikes = 2})};
}

// All bursts for the page, in the form of its spikes: units, steps of the beginnings, durations.
report::json marks_json(const burst_report& from) {
    std::vector<std::int64_t> units;
    std::vector<std::int64_t> begins;
    std::vector<std::int64_t> lengths;
    for (const unit_burst& one : from.found.bursts) {
        units.push_back(static_cast<std::int64_t>(to_index(one.unit)));
        begins.push_back(one.begin.count());
        lengths.push_back((one.end - one.begin).count());
    }
    const auto text = [](const std::vector<std::int64_t>& sums, std::int64_t begin = 0) {
        return report::base64(report::varints_of_steps(sums, begin));
    };
    const auto text_of_steps = [&](std::vector<std::int64_t>& steps) {
        std::partial_sum(steps.begin(), steps.end(), steps.begin());
        return text(steps);
    };
    return {{"number", from.found.bursts.size()},
            {"units", text_of_steps(units)},
            {"steps_us", text(begins, from.spikes.span().begin.count())},
            {"durations_us", text_of_steps(lengths)}};
}

report::json run_of(const burst_report& from) {
    report::json out =
        report::run_json(from.run, verdict_of(from), report::contents_of(from.spikes));
    out.erase("seed");  // nothing is drawn
    out["bursts"] = {{"bursts", from.found.bursts.size()},
                     {"network_bursts", from.found.network.size()},
                     {"units_of_network", from.found.units_of_network}};
    return out;
}

report::document document_from(const burst_report& from) {
    return {.kind = "bursts",
            .run = run_of(from),
            .unit_names = from.spikes.unit_names(),
            .values = {{"spikes", report::page_spikes(from.spikes)}, {"marks", marks_json(from)}},
            .tables = report::tables_of(from)};
}

}  // namespace

std::vector<report::result_table> report::tables_of(const burst_report& from) {
    return {summary_table(from), bursting_table(from), network_table(from), bursts_table(from)};
}

burst_report report_of(spike_sequence spikes, burst_result result, const execution& run) {
    burst_report out{.spikes = std::move(result.chosen ? *result.chosen : spikes),
                     .found = std::move(result.found)};
    report::record_result(out.run, result, describe(result.options), 0, run,
                          result.options.run.threads);
    return out;
}

std::string verdict_of(const burst_report& report) {
    const auto& [bursts, units, network, needed] = report.found;
    std::string text =
        bursts.empty() ? "No burst" : report::plural(bursts.size(), "burst", "bursts");
    if (bursts.empty())
        text += fmt::format(" of {}", report::plural(units.size(), "unit", "units"));
    else
        text += fmt::format(" of {} of {}", core::grouped(bursting_units(report)),
                            report::plural(units.size(), "unit", "units"));
    text += fmt::format(", and {} in {}.",
                        network.empty()
                            ? "none of the network"
                            : report::plural(network.size(), "network burst", "network bursts"),
                        report::time_text(report.spikes.observed_time()));
    return report::with_warnings(text, report.run.warnings.size());
}

void write_report(const std::filesystem::path& folder, const burst_report& report, bool overwrite,
                  const execution& run) {
    report::write_folder(folder, result_kind::bursts, document_from(report), report.with_page,
                         overwrite, run);
}

std::string document_of(const burst_report& report, const execution& run) {
    return report::whole_text(document_from(report), run);
}

std::string to_json(const burst_report& report) {
    report::json out{{"run", run_of(report)}};
    for (const report::result_table& table : report::tables_of(report))
        out[table.name] = report::rows_of(table, report.spikes.unit_names());
    out["summary"] = out["summary"][0];
    return report::text_of(out);
}

std::string summarize(const burst_report& from) {
    constexpr std::size_t most_rows = 20;
    std::string out = verdict_of(from) + "\n";
    if (from.found.bursts.empty()) return out;
    std::vector<std::size_t> order(from.found.units.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::size_t u) { return from.found.units[u].bursts; });
    std::erase_if(order, [&](std::size_t u) { return from.found.units[u].bursts == 0; });
    out += "  bursts  per min  in bursts  duration  unit\n";
    for (std::size_t i = 0; i < std::min(most_rows, order.size()); ++i) {
        const unit_bursting& one = from.found.units[order[i]];
        fmt::format_to(std::back_inserter(out), "{:>8} {:>8} {:>8.0f} % {:>6.0f} ms  {}\n",
                       core::grouped(one.bursts), report::shown_number(one.bursts_per_minute),
                       100 * one.share_in_bursts(), 1e3 * *one.mean_duration_s,
                       from.spikes.unit_names()[order[i]]);
    }
    if (order.size() > most_rows)
        out += fmt::format("… and {} more in units.tsv\n", core::grouped(order.size() - most_rows));
    return out;
}

}  // namespace spikeweave
