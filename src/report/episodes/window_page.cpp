#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/episodes/window_series.hpp"
#include "report/episodes/window_tables.hpp"
#include "report/page_spikes.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

// The rows of a table of a document, one after another.
class table_rows {
public:
    explicit table_rows(const json& columns) : columns_(columns) {}

    bool next() { return ++row_ < columns_.at("window").size(); }
    const json& operator[](const char* name) const { return columns_.at(name).at(row_); }
    std::size_t whole(const char* name) const { return (*this)[name].get<std::size_t>(); }
    double number(const char* name) const { return (*this)[name].get<double>(); }

private:
    const json& columns_;
    std::size_t row_ = ~std::size_t{0};
};

template <class Value, std::size_t number>
Value named(const std::array<Value, number>& all, const json& name) {
    for (const Value one : all)
        if (name == to_string(one)) return one;
    throw invalid_argument(fmt::format("found {}, which no edge is", name.dump()));
}

// The windows of a document, as far as the page shows them.
class windows_of_document {
public:
    windows_of_document(const json& document, std::size_t units, const execution& run)
        : units_(units) {
        read_windows(table_rows(document.at("windows")));
        read_episodes(table_rows(document.at("window_episodes")), run);
        read_circuits(table_rows(document.at("window_circuits")));
    }

    const std::vector<tested_window>& all() const { return windows_; }

private:
    void read_windows(table_rows rows) {
        while (rows.next()) {
            tested_window& one = windows_.emplace_back();
            one.bounds = {rows["window"].get<std::int64_t>(),
                          duration_from_seconds(rows.number("begin_s")),
                          duration_from_seconds(rows.number("end_s"))};
            if (one.bounds.begin >= one.bounds.end)
                throw invalid_argument("found a window without length");
            one.spikes = rows.whole("spikes");
            one.table.threshold = rows.whole("threshold");
            if (!at_.emplace(one.bounds.number, windows_.size() - 1).second)
                throw invalid_argument("found a window twice");
        }
    }

    tested_window& window_in(const table_rows& rows) {
        const auto found = at_.find(rows["window"].get<std::int64_t>());
        if (found == at_.end())
            throw invalid_argument(fmt::format("there is no window {}", rows["window"].dump()));
        return windows_[found->second];
    }

    unit_id unit_of(const json& number) const {
        const auto unit = number.get<std::uint32_t>();
        if (unit >= units_) throw invalid_argument(fmt::format("there is no unit {}", unit));
        return unit_id{unit};
    }

    void read_episodes(table_rows rows, const execution& run) {
        for (std::size_t line = 0; rows.next(); ++line) {
            core::stop_at_times(line, run.stop);
            tested_window& one = window_in(rows);
            if (rows["chain"] == true) one.circuit.chains.push_back(one.tests.size());
            episode what;
            for (const json& unit : rows["units"]) what.units.push_back(unit_of(unit));
            for (const json& delay : rows["delays_ms"]) what.delays.push_back(delay_of_ms(delay));
            if (what.units.size() != what.delays.size() + 1)
                throw invalid_argument("found an episode without one delay for each step");
            one.table.episodes.push_back({std::move(what), rows.whole("count")});
            one.tests.push_back({0, 1, rows.number("q"), 0});
        }
    }

    void read_circuits(table_rows rows) {
        while (rows.next())
            window_in(rows).circuit.edges.push_back(
                {.from = unit_of(rows["from"]),
                 .to = unit_of(rows["to"]),
                 .sign = named(connection_signs, rows["sign"]),
                 .delay = delay_of_ms(rows["delay_ms"]),
                 .best = delay_of_ms(rows["best_delay_ms"]),
                 .count = rows.whole("count"),
                 .expected = 0,
                 .p = 1,
                 .q = rows.number("q"),
                 .strength = 0,
                 .gain = {rows.number("gain"), rows.number("gain_low"), rows.number("gain_high")},
                 .kind = named(edge_kinds, rows["kind"])});
    }

    std::size_t units_;
    std::vector<tested_window> windows_{};
    std::map<std::int64_t, std::size_t> at_{};
};

}  // namespace

std::string window_page_text(std::span<const tested_window> windows, const spike_sequence& spikes,
                             json run, double alpha, const execution& stop) {
    const json tests = run.at("significance");
    const std::string ties = run.at("search").at("ties");
    window_series series({&spikes, 1}, value_named<tie_rule>(ties),
                         tests.at("alpha").get<double>());
    const std::size_t every = windows_left_out_for_a_page(windows.size());
    for (std::size_t k = 0; k < windows.size(); k += every) {
        const tested_window& one = windows[k];
        series.add(0, false, {one.bounds, one.spikes, one.table}, one.tests, one.circuit);
    }
    json shown = head_of("windows");
    shown.update({{"run", std::move(run)},
                  {"unit_names", spikes.unit_names()},
                  {"alpha", alpha},
                  {"ties", ties},
                  {"epochs", json::array({page_spikes(spikes)})},
                  {"tests", tests},
                  {"window_total", windows.size()},
                  {"every", every}});
    shown.update(series.finish(alpha, stop));
    return compact(shown);
}

std::string window_page_text(const json& document, double alpha, const execution& stop) {
    const spike_sequence spikes = read_page_spikes(document);
    const windows_of_document windows(document, spikes.unit_count(), stop);
    return window_page_text(windows.all(), spikes, document.at("run"), alpha, stop);
}

}  // namespace spikeweave::report
