#include <fmt/format.h>

#include <set>
#include <span>

#include "report/document.hpp"
#include "report/episodes/several.hpp"
#include "report/page_spikes.hpp"
#include "spikeweave/assess/episodes/circuit_stability.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

event_count counted(const several_results& compared, const compared_episode& one, std::size_t in) {
    const compared_result& result = compared.results[in];
    const double seconds = to_seconds(result.spikes.observed_time());
    if (!(seconds > 0))
        throw invalid_argument(fmt::format("the recording of '{}' has no length", result.place));
    return {one.in[in].count, seconds};
}

json columns_of(std::span<const compared_episode> episodes) {
    json columns;
    for (const char* const name : {"units", "delays_ms", "count", "expected", "q", "strength",
                                   "significant", "kind", "sign"})
        columns[name] = json::array();
    for (const auto& [what, in] : episodes) {
        json units = json::array();
        for (const unit_id unit : what.units) units.push_back(to_index(unit));
        columns["units"].push_back(std::move(units));
        columns["delays_ms"].push_back(ms(what.delays));
        json cells;
        for (const compared_count& one : in) {
            cells["count"].push_back(one.count);
            cells["expected"].push_back(one.expected);
            cells["q"].push_back(one.q);
            cells["strength"].push_back(one.strength);
            cells["significant"].push_back(one.significant);
            cells["kind"].push_back(one.kind.empty() ? json() : json(one.kind));
            cells["sign"].push_back(one.sign.empty() ? json() : json(one.sign));
        }
        for (const auto& [name, values] : cells.items()) columns[name].push_back(values);
    }
    return columns;
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
    const auto known = [](const std::optional<double>& value) {
        return value ? json(*value) : json();
    };
    return {{"from", from},
            {"to", to},
            {"before", both.before},
            {"after", both.after},
            {"common", both.common},
            {"jaccard", known(both.jaccard)},
            {"jaccard_expected", known(both.expected)},
            {"stability", known(both.index)},
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
    json document = head_of(is_series ? "series" : "comparison");
    document.update({{"alpha", alpha},
                     {"unit_names", results.front().spikes.unit_names()},
                     {"recordings", json::array()},
                     {"episodes", columns_of(compared.episodes)},
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
    return compact(document);
}

}  // namespace spikeweave::report
