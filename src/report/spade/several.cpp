#include "report/several.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "core/stop.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_trains.hpp"

namespace spikeweave::report {
namespace {

// Lag in bins and unit of each spike, ascending.
using compared_pattern = std::vector<std::pair<std::uint32_t, unit_id>>;

// A pattern in one result.
struct pattern_count {
    std::uint64_t count = 0;
    json p{};
    json q{};
    bool is_found = false;
};

using pattern_map = std::map<compared_pattern, std::vector<pattern_count>>;

// The bins of a recording in which each unit has a spike, as the windows of `spade` were made.
class unit_bins {
public:
    unit_bins(const spike_sequence& spikes, const json& windows) {
        const spike_trains trains(spikes);
        const auto width = windows.at("bin_us").get<std::int64_t>();
        const auto origin = windows.at("origin_us").get<std::int64_t>();
        const auto number = windows.at("bins").get<std::int64_t>();
        const auto epochs = windows.at("segments_us").get<epoch_list>();
        for (std::size_t u = 0; u < spikes.unit_count(); ++u) {
            std::vector<std::int64_t>& bins = bins_.emplace_back();
            for (const std::int64_t time :
                 trains.times_us(unit_id{static_cast<std::uint32_t>(u)})) {
                const std::int64_t since = joined_time(epochs, time) - origin;
                if (since < 0 || since / width >= number) continue;
                if (bins.empty() || bins.back() != since / width) bins.push_back(since / width);
            }
        }
    }

    // The number of bins from which on all spikes are in the bins of their lags.
    std::uint64_t count(const compared_pattern& pattern) const {
        std::uint64_t found = 0;
        std::vector<std::size_t> at(pattern.size());
        for (const std::int64_t start : bins_[to_index(pattern.front().second)])
            found += is_at(pattern, start, at) ? 1 : 0;
        return found;
    }

private:
    using epoch_list = std::vector<std::pair<std::int64_t, std::int64_t>>;

    // Joined epochs have a time axis of their own, on which bins are counted.
    static std::int64_t joined_time(const epoch_list& epochs, std::int64_t time) {
        if (epochs.empty()) return time;
        const auto after =
            std::upper_bound(epochs.begin() + 1, epochs.end(), time,
                             [](std::int64_t t, const auto& epoch) { return t < epoch.second; });
        return (after - 1)->first + (time - (after - 1)->second);
    }

    bool is_at(const compared_pattern& pattern, std::int64_t start,
               std::vector<std::size_t>& at) const {
        for (std::size_t k = 0; k < pattern.size(); ++k) {
            const auto& [lag, unit] = pattern[k];
            const std::vector<std::int64_t>& bins = bins_[to_index(unit)];
            while (at[k] < bins.size() && bins[at[k]] < start + lag) ++at[k];
            if (at[k] == bins.size() || bins[at[k]] != start + lag) return false;
        }
        return true;
    }

    std::vector<std::vector<std::int64_t>> bins_;
};

void check_comparable(const std::vector<named_result>& results) {
    const named_result& first = results.front();
    for (const named_result& one : results) {
        if (one.document.at("spikes").at("number") == 0)
            throw invalid_argument(
                fmt::format("'{}' has no spikes, so patterns cannot be counted in it", one.place));
        if (one.document.at("windows").at("bin_us") != first.document.at("windows").at("bin_us"))
            throw invalid_argument(fmt::format(
                "'{}' was searched with another `bin` than '{}', so their patterns cannot be "
                "compared",
                one.place, first.place));
    }
}

json cell_of(const json& table, const char* name, std::size_t i) {
    return table.contains(name) ? table.at(name).at(i) : json();
}

void take_patterns(const json& page, const unit_map& units, std::size_t result, std::size_t results,
                   pattern_map& all) {
    const json& patterns = page.at("patterns");
    const double bin_us = page.at("windows").at("bin_us");
    for (std::size_t i = 0; i < patterns.at("units").size(); ++i) {
        compared_pattern what;
        const json& lags = patterns.at("lags_ms").at(i);
        for (std::size_t k = 0; k < lags.size(); ++k)
            what.emplace_back(
                static_cast<std::uint32_t>(std::lround(1000 * lags.at(k).get<double>() / bin_us)),
                units.at(patterns.at("units").at(i).at(k).get<std::size_t>()));
        std::sort(what.begin(), what.end());
        std::vector<pattern_count>& in = all[std::move(what)];
        in.resize(results);
        in[result] = {patterns.at("count").at(i), cell_of(patterns, "p", i),
                      cell_of(patterns, "q", i), cell_of(patterns, "significant", i) != false};
    }
}

// The patterns that most results found come first, then those of more spikes.
std::vector<pattern_map::const_iterator> in_order(const pattern_map& all) {
    std::vector<pattern_map::const_iterator> order;
    for (auto one = all.begin(); one != all.end(); ++one) order.push_back(one);
    const auto rank = [](pattern_map::const_iterator one) {
        const auto found = std::ranges::count(one->second, true, &pattern_count::is_found);
        return std::pair(-found, -static_cast<std::ptrdiff_t>(one->first.size()));
    };
    std::ranges::stable_sort(order, {}, rank);
    return order;
}

json columns_of_patterns(std::span<const pattern_map::const_iterator> rows, duration bin) {
    return columns_of({"units", "lags_ms", "count", "p", "q", "found"}, rows, [&](auto row) {
        json cells = json::array();
        for (int i = 0; i < 6; ++i) cells.push_back(json::array());
        for (const auto& [lag, unit] : row->first) {
            cells[0].push_back(unit);
            cells[1].push_back(ms(lag * bin));
        }
        for (const auto& [count, p, q, is_found] : row->second) {
            cells[2].push_back(count);
            cells[3].push_back(p);
            cells[4].push_back(q);
            cells[5].push_back(is_found);
        }
        return cells;
    });
}

double seconds_of(const json& windows) {
    return windows.at("bin_us").get<double>() * windows.at("bins").get<double>() / 1e6;
}

json changes_of(std::span<const pattern_map::const_iterator> rows,
                const std::vector<named_result>& results, std::size_t from, std::size_t to,
                double alpha) {
    const double before = seconds_of(results[from].document.at("windows"));
    const double after = seconds_of(results[to].document.at("windows"));
    std::vector<counted_twice> counts;
    for (const auto& row : rows) {
        const pattern_count& was = row->second[from];
        const pattern_count& is = row->second[to];
        counts.push_back({{was.count, before}, {is.count, after}, was.is_found, is.is_found});
    }
    return columns_of(rate_changes(counts, alpha), from, to);
}

// Counts in the spikes what a result did not find.
void count_missing_patterns(const spike_sequence& spikes, const json& windows, std::size_t result,
                            pattern_map& all, const execution& run) {
    const unit_bins bins(spikes, windows);
    for (auto& [what, in] : all) {
        core::throw_if_stopped(run.stop);
        if (!in[result].is_found && in[result].count == 0) in[result].count = bins.count(what);
    }
}

}  // namespace

std::string several_patterns_data(std::vector<named_result> results, bool is_series, double alpha,
                                  const execution& run) {
    check_comparable(results);
    std::vector<spike_sequence> spikes;
    spikes.reserve(results.size());
    for (const named_result& one : results) spikes.push_back(read_page_spikes(one.document));
    std::vector<spike_sequence*> sequences;
    sequences.reserve(spikes.size());
    for (spike_sequence& one : spikes) sequences.push_back(&one);
    const std::vector<unit_map> units = join_units(sequences);
    pattern_map all;
    for (std::size_t i = 0; i < results.size(); ++i)
        take_patterns(results[i].document, units[i], i, results.size(), all);
    for (std::size_t i = 0; i < results.size(); ++i)
        count_missing_patterns(spikes[i], results[i].document.at("windows"), i, all, run);

    const auto order = in_order(all);
    const duration bin{results.front().document.at("windows").at("bin_us").get<std::int64_t>()};
    const std::span rows(order.data(), std::min(order.size(), most_rows_of_a_page));
    json document = head_of("spade-comparison");
    document.update({{"alpha", alpha},
                     {"unit_names", spikes.front().unit_names()},
                     {"recordings", json::array()},
                     {"patterns", columns_of_patterns(rows, bin)},
                     {"changes", json::array()}});
    document["patterns"]["total"] = order.size();
    for (std::size_t i = 0; i < results.size(); ++i) {
        json& data = results[i].document;
        document["recordings"].push_back({{"name", results[i].name},
                                          {"run", std::move(data.at("run"))},
                                          {"spikes", page_spikes(spikes[i])},
                                          {"windows", data.at("windows")},
                                          {"patterns", data.at("patterns").at("total")}});
        if (i > 0)
            document["changes"].push_back(
                changes_of(rows, results, is_series ? i - 1 : 0, i, alpha));
    }
    add_verdict_of_changes(document, is_series, "patterns");
    return compact(document);
}

}  // namespace spikeweave::report
