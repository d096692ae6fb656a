#include "report/episodes/several.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "io/file_error.hpp"
#include "report/common_units.hpp"
#include "report/run_json.hpp"
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

// What the record of a run says of its search.
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

}  // namespace spikeweave::report
