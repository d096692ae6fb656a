#include "report/episodes/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

// The numbers that the units of a result get in a comparison.
class common_units {
public:
    explicit common_units(std::vector<unit_id> ids) : ids_(std::move(ids)) {}

    unit_id of(unit_id unit) const { return ids_.at(to_index(unit)); }
    episode of(episode what) const {
        for (unit_id& unit : what.units) unit = of(unit);
        return what;
    }

private:
    std::vector<unit_id> ids_;
};

// Gives all results the units of all of them, so that a unit has the same number everywhere.
std::vector<common_units> join_units(std::vector<compared_result>& results) {
    std::set<std::string> names;
    for (const compared_result& one : results)
        names.insert(one.spikes.unit_names().begin(), one.spikes.unit_names().end());
    std::vector<common_units> units;
    for (compared_result& one : results) {
        const std::vector<std::string> own_names = one.spikes.unit_names();
        spike_sequence_builder joined;
        for (const std::string& name : names) joined.unit(name);
        std::vector<unit_id> ids;
        for (const std::string& name : own_names) ids.push_back(joined.unit(name));
        for (std::size_t i = 0; i < one.spikes.size(); ++i)
            joined.append(one.spikes.times_us()[i], ids[to_index(one.spikes.units()[i])]);
        one.spikes = joined.finish(one.spikes.span());
        ids.clear();  // `finish` numbers units anew
        for (const std::string& name : own_names) ids.push_back(one.spikes.unit(name));
        units.emplace_back(std::move(ids));
    }
    return units;
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
        throw io::file_error(std::filesystem::path(one.place) / "run.json", error.what());
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

void read_counts(const compared_result& one, const common_units& units, std::size_t result,
                 compared_map& all) {
    one.each_episode([&](episode_row&& row) {
        const auto found = all.find(units.of(std::move(row.what)));
        if (found != all.end()) found->second[result] = std::move(row.in);
    });
    for (const compared_edge& edge : one.edges) {
        const std::vector<unit_id> ends = units.of(edge.best).units;
        for (auto& [what, in] : all)
            if (what.units == ends && edge.delay.low <= what.delays[0].low &&
                what.delays[0].high <= edge.delay.high)
                in[result].kind = edge.kind;
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

comparison compare(std::vector<compared_result> results, const execution& run) {
    const std::vector<search_record> searches = comparable_searches(results);
    const std::vector<common_units> units = join_units(results);
    compared_map all;
    for (std::size_t i = 0; i < results.size(); ++i) {
        for (const compared_edge& edge : results[i].edges)
            all[units[i].of(edge.best)].resize(results.size());
        results[i].each_episode([&](episode_row&& row) {
            if (searches[i].chains.contains(row.number))
                all[units[i].of(std::move(row.what))].resize(results.size());
        });
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        read_counts(results[i], units[i], i, all);
        count_missing(results[i].spikes, searches[i].ties, i, all, run);
    }
    comparison compared{std::move(results), {}};
    for (auto& [what, in] : all) compared.episodes.push_back({what, std::move(in)});
    return compared;
}

}  // namespace spikeweave::report
