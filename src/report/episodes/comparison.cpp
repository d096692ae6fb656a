#include "report/episodes/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "report/episodes/page_data.hpp"
#include "report/page_tables.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

// An edge of a circuit: its best delay is what is compared, and all its delays are significant.
struct listed_edge {
    episode best{};
    delay_interval delay{};
    std::string kind{};
};

// The tables of a result, with the units of the comparison.
class result_tables {
public:
    result_tables(std::filesystem::path folder, const std::vector<std::string>& names,
                  const spike_sequence& all)
        : folder_(std::move(folder)), known_(names) {
        for (const std::string& name : names) common_.push_back(all.unit(name));
    }

    template <class Take>
    void each_episode(const Take& take, const execution& run) const {
        page_table rows(folder_ / "episodes.tsv");
        for (std::size_t number = 1; rows.next(); ++number) {
            core::throw_if_stopped(run.stop);
            const auto size = static_cast<std::size_t>(rows.number(rows["size"]));
            episode what{{}, delays_of(rows, rows["delays"])};
            for (const std::uint32_t unit : known_.units(rows, rows["units"], "→", size))
                what.units.push_back(common_[unit]);
            take(number, std::move(what), rows);
        }
    }

    std::vector<listed_edge> edges() const {
        page_table rows(folder_ / "circuit.tsv");
        std::vector<listed_edge> edges;
        while (rows.next()) {
            const unit_id from = common_[known_.unit(rows, rows["from"])];
            const unit_id to = common_[known_.unit(rows, rows["to"])];
            edges.push_back({{{from, to}, {delays_of(rows, rows["best_delay"]).at(0)}},
                             delays_of(rows, rows["delay"]).at(0),
                             std::string(rows["kind"])});
        }
        return edges;
    }

private:
    static std::vector<delay_interval> delays_of(const page_table& rows, std::string_view cell) {
        std::vector<delay_interval> delays;
        for (const json& ends : intervals_of(rows, cell)) {
            const auto at = [&](std::size_t i) {
                return duration{std::llround(1000 * ends.at(i).get<double>())};
            };
            delays.push_back({at(0), at(1)});
        }
        if (delays.empty() && cell != "-") rows.fail("there is no delay");
        return delays;
    }

    std::filesystem::path folder_;
    unit_numbers known_;
    std::vector<unit_id> common_;
};

// Gives all results the units of all of them, so that a unit has the same number everywhere.
void join_units(std::vector<compared_result>& results) {
    std::set<std::string> names;
    for (const compared_result& one : results)
        names.insert(one.spikes.unit_names().begin(), one.spikes.unit_names().end());
    for (compared_result& one : results) {
        spike_sequence_builder joined;
        for (const std::string& name : names) joined.unit(name);
        std::vector<unit_id> ids;
        for (const std::string& name : one.spikes.unit_names()) ids.push_back(joined.unit(name));
        for (std::size_t i = 0; i < one.spikes.size(); ++i)
            joined.append(one.spikes.times_us()[i], ids[to_index(one.spikes.units()[i])]);
        one.spikes = joined.finish(one.spikes.span());
    }
}

// What the record of a run says of its search.
struct search_record {
    std::vector<delay_interval> delays{};
    tie_rule ties = tie_rule::time;
    std::set<std::size_t> chains{};  ///< numbers of episodes
};

search_record search_of(const compared_result& one) {
    try {
        const json& asked = one.run.at("parameters");
        search_record record{parse_delays(asked.at("delays").get<std::string>()),
                             value_named<tie_rule>(asked.at("ties").get<std::string>()),
                             one.run.at("circuit").at("chains").get<std::set<std::size_t>>()};
        std::sort(record.delays.begin(), record.delays.end());
        return record;
    } catch (const json::exception& error) {
        throw io::file_error(one.folder / "run.json", error.what());
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
                one.folder.string(), results.front().folder.string()));
    }
    return searches;
}

using compared_map = std::map<episode, std::vector<compared_count>>;

void read_counts(const result_tables& tables, std::size_t result, compared_map& all,
                 const execution& run) {
    const auto take = [&](std::size_t, episode&& what, const page_table& rows) {
        const auto found = all.find(what);
        if (found == all.end()) return;
        compared_count& here = found->second[result];
        here.count = static_cast<std::uint64_t>(rows.number(rows["count"]));
        here.expected = rows.number(rows["expected"]);
        here.q = rows.number(rows["q"]);
        here.strength = rows.number(rows["strength"]);
        here.significant = rows["significant"] == "yes";
        here.is_listed = true;
    };
    tables.each_episode(take, run);
    for (const auto& [best, delay, kind] : tables.edges())
        for (auto& [what, in] : all)
            if (what.units == best.units && delay.low <= what.delays[0].low &&
                what.delays[0].high <= delay.high)
                in[result].kind = kind;
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
    std::vector<std::vector<std::string>> own_names;
    own_names.reserve(results.size());
    for (const compared_result& one : results) own_names.push_back(one.spikes.unit_names());
    join_units(results);
    std::vector<result_tables> tables;
    for (std::size_t i = 0; i < results.size(); ++i)
        tables.emplace_back(results[i].folder, own_names[i], results[i].spikes);

    compared_map all;
    for (std::size_t i = 0; i < results.size(); ++i) {
        for (listed_edge& edge : tables[i].edges())
            all[std::move(edge.best)].resize(results.size());
        const std::set<std::size_t>& chains = searches[i].chains;
        tables[i].each_episode(
            [&](std::size_t number, episode&& what, const page_table&) {
                if (chains.contains(number)) all[std::move(what)].resize(results.size());
            },
            run);
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        read_counts(tables[i], i, all, run);
        count_missing(results[i].spikes, searches[i].ties, i, all, run);
    }
    comparison compared{std::move(results), {}};
    for (auto& [what, in] : all) compared.episodes.push_back({what, std::move(in)});
    return compared;
}

}  // namespace spikeweave::report
