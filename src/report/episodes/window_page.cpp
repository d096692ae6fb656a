#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/episodes/page_data.hpp"
#include "report/episodes/window_series.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace report {
namespace {

std::size_t whole(const page_table& rows, std::string_view name) {
    const double value = rows.number(rows[name]);
    if (!(value >= 0 && value < 1e15)) rows.fail("found a number that is no count");
    return static_cast<std::size_t>(value);
}

duration time_of(const page_table& rows, std::string_view name) {
    const double seconds = rows.number(rows[name]);
    if (!(std::abs(seconds) < 1e10)) rows.fail("found a time that is too far away");
    return duration_from_seconds(seconds);
}

// "n0 4-6ms n1", as `read_episodes` reads it.
episode episode_of_text(const page_table& rows, std::string_view cell, const unit_numbers& known) {
    std::istringstream words{std::string(cell)};
    episode what;
    for (std::string word; words >> std::quoted(word);) {
        what.units.push_back(unit_id{known.unit(rows, word)});
        if (!(words >> word)) break;
        try {
            what.delays.push_back(parse_delay_interval(word));
        } catch (const invalid_argument& error) {
            rows.fail(error.what());
        }
    }
    if (what.units.size() != what.delays.size() + 1) rows.fail("found no episode");
    return what;
}

class windows_of_tables {
public:
    windows_of_tables(const std::filesystem::path& folder, const spike_sequence& spikes,
                      const execution& run)
        : known_(spikes.unit_names()) {
        read_windows(folder / "windows.tsv");
        read_episodes(folder / "window_episodes.tsv", run);
        read_circuits(folder / "window_circuits.tsv");
    }

    const std::vector<tested_window>& all() const { return windows_; }

private:
    void read_windows(const std::filesystem::path& path) {
        page_table rows(path);
        while (rows.next()) {
            tested_window& one = windows_.emplace_back();
            one.bounds = {static_cast<std::int64_t>(rows.number(rows["window"])),
                          time_of(rows, "begin_s"), time_of(rows, "end_s")};
            if (one.bounds.begin >= one.bounds.end) rows.fail("found no interval");
            one.spikes = whole(rows, "spikes");
            one.table.threshold = whole(rows, "threshold");
            if (!at_.emplace(one.bounds.number, windows_.size() - 1).second)
                rows.fail("found a window twice");
        }
    }

    tested_window& window_in(const page_table& rows) {
        const auto found = at_.find(static_cast<std::int64_t>(rows.number(rows["window"])));
        if (found == at_.end()) rows.fail("windows.tsv has no such window");
        return windows_[found->second];
    }

    void read_episodes(const std::filesystem::path& path, const execution& run) {
        page_table rows(path);
        for (std::size_t line = 0; rows.next(); ++line) {
            core::stop_at_times(line, run.stop);
            tested_window& one = window_in(rows);
            if (rows["chain"] == "yes") one.circuit.chains.push_back(one.tests.size());
            one.table.episodes.push_back(
                {episode_of_text(rows, rows["episode"], known_), whole(rows, "count")});
            one.tests.push_back({0, 1, rows.number(rows["q"]), 0});
        }
    }

    void read_circuits(const std::filesystem::path& path) {
        page_table rows(path);
        while (rows.next()) {
            const auto kind = std::ranges::find_if(
                edge_kinds, [&](edge_kind one) { return to_string(one) == rows["kind"]; });
            if (kind == edge_kinds.end()) rows.fail("found an unknown kind of edge");
            const auto sign = std::ranges::find_if(connection_signs, [&](connection_sign one) {
                return to_string(one) == rows["sign"];
            });
            if (sign == connection_signs.end()) rows.fail("found an unknown sign of an edge");
            const auto number = [&](std::string_view name) { return rows.number(rows[name]); };
            window_in(rows).circuit.edges.push_back(
                {.from = unit_id{known_.unit(rows, rows["from"])},
                 .to = unit_id{known_.unit(rows, rows["to"])},
                 .sign = *sign,
                 .delay = delay_in(rows, "delay"),
                 .best = delay_in(rows, "best_delay"),
                 .count = whole(rows, "count"),
                 .expected = 0,
                 .p = 1,
                 .q = number("q"),
                 .strength = 0,
                 .gain = {number("gain"), number("gain_low"), number("gain_high")},
                 .kind = *kind});
        }
    }

    static delay_interval delay_in(const page_table& rows, std::string_view name) {
        const json intervals = intervals_of(rows, rows[name]);
        if (intervals.size() != 1) rows.fail("found no delay");
        const auto us = [&](std::size_t i) {
            return duration{std::llround(1000 * intervals[0].at(i).get<double>())};
        };
        return {us(0), us(1)};
    }

    unit_numbers known_;
    std::vector<tested_window> windows_{};
    std::map<std::int64_t, std::size_t> at_{};
};

std::string page_data_of_windows(std::span<const tested_window> windows,
                                 const spike_sequence& spikes, const json& record, double alpha,
                                 const execution& run) {
    const json& tests = record.at("significance");
    const std::string ties = record.at("search").at("ties");
    window_series series({&spikes, 1}, value_named<tie_rule>(ties),
                         tests.at("alpha").get<double>());
    const std::size_t every = windows_left_out_for_a_page(windows.size());
    for (std::size_t k = 0; k < windows.size(); k += every) {
        const tested_window& one = windows[k];
        series.add(0, false, {one.bounds, one.spikes, one.table}, one.tests, one.circuit);
    }
    json document{{"format", "spikeweave page"},
                  {"version", 1},
                  {"kind", "windows"},
                  {"run", record},
                  {"alpha", alpha},
                  {"ties", ties},
                  {"units", spikes.unit_names()},
                  {"epochs", {page_spikes(spikes)}},
                  {"tests", tests},
                  {"window_total", windows.size()},
                  {"every", every}};
    document.update(series.finish(alpha, run));
    return page_text(document);
}

}  // namespace

std::string window_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                             double alpha, const execution& run) {
    const windows_of_tables tables(folder, spikes, run);
    return page_data_of_windows(tables.all(), spikes, read_run(folder, "windows.tsv"), alpha, run);
}

}  // namespace report

std::string page_data_of(const spike_sequence& spikes, std::span<const tested_window> windows,
                         std::string_view record, double alpha, const execution& run) {
    return report::page_data_of_windows(windows, spikes, report::json::parse(record), alpha, run);
}

}  // namespace spikeweave
