#include "report/episodes/several.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "io/file_error.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "report/run_json.hpp"
#include "report/several.hpp"
#include "report/unit_places.hpp"
#include "spikeweave/assess/episodes/circuit_stability.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

episode with_units(episode what, const unit_map& units) {
    for (unit_id& unit : what.units) unit = units.at(to_index(unit));
    return what;
}

std::vector<unit_map> join_units_of(std::vector<compared_result>& results) {
    std::vector<spike_sequence*> sequences;
    sequences.reserve(results.size());
    for (compared_result& one : results) sequences.push_back(&one.spikes);
    return join_units(sequences);
}

// The search in the record of a run.
struct search_record {
    std::vector<delay_interval> delays{};
    tie_rule ties = tie_rule::time;
    std::set<std::size_t> chains{};  ///< numbers of episodes
};

// Delays as the command writes them, or in seconds, as Python has them.
std::vector<delay_interval> asked_delays(const json& delays) {
    if (delays.is_string()) return parse_delays(delays.get<std::string>());
    std::vector<delay_interval> out;
    for (const auto& [low, high] : delays.get<std::vector<std::pair<double, double>>>())
        out.push_back({duration_from_seconds(low), duration_from_seconds(high)});
    return out;
}

search_record search_of(const compared_result& one) {
    try {
        const json& asked = one.run.at("parameters");
        search_record record{asked_delays(asked.at("delays")),
                             value_named<tie_rule>(asked.at("ties").get<std::string>()),
                             one.run.at("circuit").at("chains").get<std::set<std::size_t>>()};
        std::sort(record.delays.begin(), record.delays.end());
        return record;
    } catch (const json::exception& error) {
        throw io::file_error(std::filesystem::path(one.place) / "result.json", reason_of(error));
    }
}

std::vector<search_record> comparable_searches(std::span<const compared_result> results) {
    std::vector<search_record> searches;
    for (const compared_result& one : results) {
        searches.push_back(search_of(one));
        const search_record& first = searches.front();
        if (searches.back().delays != first.delays || searches.back().ties != first.ties)
            throw invalid_argument(fmt::format(
                "'{}' was searched with other `delays` or `ties` than '{}', so their counts cannot "
                "be compared",
                one.place, results.front().place));
    }
    return searches;
}

using compared_map = std::map<episode, std::vector<compared_count>>;

// Whether a pair is an edge is decided by the circuit, not by the test of its count.
void read_counts(const compared_result& one, const unit_map& units, std::size_t result,
                 compared_map& all) {
    for (const episode_row& row : one.episodes) {
        const auto found = all.find(with_units(row.what, units));
        if (found == all.end()) continue;
        compared_count& in = found->second[result];
        in = row.in;
        if (found->first.size() != 2) continue;
        in.significant = false;
        in.q = {};
    }
    for (const compared_edge& edge : one.edges) {
        const std::vector<unit_id> ends = with_units(edge.best, units).units;
        for (auto& [what, in] : all) {
            if (what.units != ends || !is_same_peak(edge.delay, what.delays.front())) continue;
            in[result].kind = edge.kind;
            in[result].sign = edge.sign;
            in[result].q = edge.q;
            in[result].significant = true;
        }
    }
}

void count_missing(const spike_sequence& spikes, tie_rule ties, std::size_t result,
                   compared_map& all, const execution& run) {
    std::vector<episode> wanted;
    for (const auto& [what, in] : all)
        if (!in[result].is_listed) wanted.push_back(what);
    if (wanted.empty()) return;
    episode_count_options how;
    how.ties = ties;
    const auto counts = count_episodes(spikes, wanted, how, run).counts;
    for (std::size_t i = 0; i < wanted.size(); ++i) all.at(wanted[i])[result].count = counts[i];
}

}  // namespace

bool is_same_peak(const delay_interval& a, const delay_interval& b) {
    const duration shared = std::min(a.high, b.high) - std::max(a.low, b.low);
    return 2 * shared >= std::min(a.high - a.low, b.high - b.low);
}

std::vector<episode> one_of_each_peak(const std::map<episode, std::size_t>& circuits_of) {
    std::vector<std::pair<std::size_t, const episode*>> by_circuits;
    by_circuits.reserve(circuits_of.size());
    for (const auto& [what, circuits] : circuits_of) by_circuits.emplace_back(circuits, &what);
    std::ranges::stable_sort(by_circuits, std::greater{},
                             &std::pair<std::size_t, const episode*>::first);
    std::map<std::vector<unit_id>, std::vector<delay_interval>> peaks;
    std::vector<episode> out;
    for (const auto& [circuits, what] : by_circuits) {
        if (what->size() == 2) {
            std::vector<delay_interval>& known = peaks[what->units];
            const delay_interval& delay = what->delays.front();
            if (std::ranges::any_of(
                    known, [&](const delay_interval& one) { return is_same_peak(one, delay); }))
                continue;
            known.push_back(delay);
        }
        out.push_back(*what);
    }
    return out;
}

several_results several_of(std::vector<compared_result> results, const execution& run) {
    const std::vector<search_record> searches = comparable_searches(results);
    const std::vector<unit_map> units = join_units_of(results);
    std::map<episode, std::size_t> circuits_of;
    for (std::size_t i = 0; i < results.size(); ++i) {
        for (const compared_edge& edge : results[i].edges)
            ++circuits_of[with_units(edge.best, units[i])];
        for (const episode_row& row : results[i].episodes)
            if (searches[i].chains.contains(row.number))
                ++circuits_of[with_units(row.what, units[i])];
    }
    compared_map all;
    for (episode& what : one_of_each_peak(circuits_of)) all[std::move(what)].resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        read_counts(results[i], units[i], i, all);
        count_missing(results[i].spikes, searches[i].ties, i, all, run);
    }
    several_results compared{std::move(results), {}};
    for (auto& [what, in] : all) compared.episodes.push_back({what, std::move(in)});
    return compared;
}

namespace {

std::vector<delay_interval> delays_of_ms(const json& intervals) {
    std::vector<delay_interval> delays;
    for (const json& ends : intervals) delays.push_back(delay_of_ms(ends));
    return delays;
}

std::vector<unit_id> units_of_numbers(const json& numbers) {
    std::vector<unit_id> units;
    units.reserve(numbers.size());
    for (const json& number : numbers) units.push_back(unit_id{number.get<std::uint32_t>()});
    return units;
}

std::vector<compared_edge> edges_of(const json& circuit) {
    std::vector<compared_edge> edges;
    for (std::size_t i = 0; i < circuit.at("from").size(); ++i) {
        const auto cell = [&](const char* name) -> const json& { return circuit.at(name).at(i); };
        edges.push_back(
            {{units_of_numbers({cell("from"), cell("to")}), {delay_of_ms(cell("best_delay_ms"))}},
             delay_of_ms(cell("delay_ms")),
             cell("kind"),
             cell("sign"),
             cell("q")});
    }
    return edges;
}

episode_row row_of(const json& episodes, std::size_t i) {
    const auto cell = [&](const char* name) -> const json& { return episodes.at(name).at(i); };
    return {.number = i + 1,
            .what = {units_of_numbers(cell("units")), delays_of_ms(cell("delays_ms"))},
            .in = {.count = cell("count"),
                   .expected = cell("expected"),
                   .q = cell("q"),
                   .strength = cell("strength"),
                   .significant = cell("significant"),
                   .is_listed = true}};
}

}  // namespace

compared_result compared_result_of(named_result from) {
    json& document = from.document;
    std::vector<episode_row> rows;
    const json& episodes = document.at("episodes");
    rows.reserve(episodes.at("units").size());
    for (std::size_t i = 0; i < episodes.at("units").size(); ++i)
        rows.push_back(row_of(episodes, i));
    return {std::move(from.name),
            std::move(from.place),
            std::move(document.at("run")),
            read_page_spikes(document),
            edges_of(document.at("circuit")),
            std::move(rows)};
}

namespace {

event_count counted(const several_results& compared, const compared_episode& one, std::size_t in) {
    const compared_result& result = compared.results[in];
    const double seconds = to_seconds(result.spikes.observed_time());
    if (!(seconds > 0))
        throw invalid_argument(fmt::format("the recording of '{}' has no length", result.place));
    return {one.in[in].count, seconds};
}

// A cell with a value for each result.
json cells_of(const compared_episode& one, const auto& value_in) {
    json cells = json::array();
    for (const compared_count& in : one.in) cells.push_back(std::invoke(value_in, in));
    return cells;
}

json columns_of_episodes(std::span<const compared_episode> episodes) {
    const auto known = [](std::string compared_count::*name) {
        return [name](const compared_count& in) {
            return (in.*name).empty() ? json() : json(in.*name);
        };
    };
    return columns_of(
        {"units", "delays_ms", "count", "expected", "q", "strength", "significant", "kind", "sign"},
        episodes, [&](const compared_episode& one) {
            return json::array(
                {one.what.units, ms(one.what.delays), cells_of(one, &compared_count::count),
                 cells_of(one, &compared_count::expected), cells_of(one, &compared_count::q),
                 cells_of(one, &compared_count::strength),
                 cells_of(one, &compared_count::significant),
                 cells_of(one, known(&compared_count::kind)),
                 cells_of(one, known(&compared_count::sign))});
        });
}

// The pairs of units that have a direct edge in a result.
std::vector<directed_pair> pairs_of(const several_results& compared, std::size_t in) {
    std::set<directed_pair> pairs;
    for (const compared_episode& one : compared.episodes)
        if (one.in[in].kind == to_string(edge_kind::direct))
            pairs.emplace(one.what.units[0], one.what.units[1]);
    return {pairs.begin(), pairs.end()};
}

json stability_between(const several_results& compared, std::size_t from, std::size_t to) {
    const circuit_stability both =
        measure_stability(pairs_of(compared, from), pairs_of(compared, to));
    return {{"from", from},
            {"to", to},
            {"before", both.before},
            {"after", both.after},
            {"common", both.common},
            {"jaccard", or_null(both.jaccard)},
            {"jaccard_expected", or_null(both.expected)},
            {"stability", or_null(both.index)},
            {"p", both.p}};
}

}  // namespace

std::vector<rate_change> changes_between(const several_results& compared, std::size_t from,
                                         std::size_t to, double alpha) {
    std::vector<counted_twice> counts;
    for (const compared_episode& one : compared.episodes) {
        const auto is_inhibitory = [&](std::size_t in) {
            return one.in[in].sign == to_string(connection_sign::inhibitory);
        };
        counts.push_back({counted(compared, one, from), counted(compared, one, to),
                          one.in[from].significant, one.in[to].significant,
                          is_inhibitory(from) || is_inhibitory(to)});
    }
    return rate_changes(counts, alpha);
}

std::string several_episodes_data(const several_results& compared, bool is_series, double alpha) {
    const std::vector<compared_result>& results = compared.results;
    unit_places places;
    for (const compared_result& one : results)
        places.insert(one.spikes.places().begin(), one.spikes.places().end());
    json document = head_of(is_series ? "series" : "comparison");
    document.update({{"alpha", alpha},
                     {"unit_names", results.front().spikes.unit_names()},
                     {"places", columns_of(places, results.front().spikes.unit_names())},
                     {"recordings", json::array()},
                     {"episodes", columns_of_episodes(compared.episodes)},
                     {"changes", json::array()},
                     {"stability", json::array()}});
    for (std::size_t i = 0; i < results.size(); ++i) {
        document["recordings"].push_back({{"name", results[i].name},
                                          {"run", results[i].run},
                                          {"spikes", page_spikes(results[i].spikes)}});
        if (i == 0) continue;
        const std::size_t from = is_series ? i - 1 : 0;
        document["changes"].push_back(
            columns_of(changes_between(compared, from, i, alpha), from, i));
        document["stability"].push_back(stability_between(compared, from, i));
    }
    add_verdict_of_changes(document, is_series, "connections and chains");
    return compact(document);
}

}  // namespace spikeweave::report
