#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "report/episodes/view.hpp"
#include "report/unit_places.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

void check(const episode_report& what) {
    const std::size_t n = what.table.episodes.size();
    if (what.assessed.size() != n || (!what.surrogates.empty() && what.surrogates.size() != n))
        throw invalid_argument(
            fmt::format("the report has {} episodes, {} assessed and {} assessed by surrogates", n,
                        what.assessed.size(), what.surrogates.size()));
    if (what.searched && (what.searched->counts.size() != n || what.searched->tests.size() != n))
        throw invalid_argument(fmt::format("the report has {} episodes, and {} of the search", n,
                                           what.searched->counts.size()));
    const auto known = [&](unit_id unit) { return to_index(unit) < what.spikes.unit_count(); };
    const bool units_fit =
        std::ranges::all_of(what.table.episodes,
                            [&](const counted_episode& counted) {
                                return std::ranges::all_of(counted.what.units, known);
                            }) &&
        std::ranges::all_of(what.circuit.edges, [&](const circuit_edge& edge) {
            return known(edge.from) && known(edge.to) && std::ranges::all_of(edge.via, known);
        });
    const bool chains_fit =
        std::ranges::all_of(what.circuit.chains, [&](std::size_t i) { return i < n; });
    if (!units_fit || !chains_fit)
        throw invalid_argument("the report's episodes and circuit are not of its spikes");
}

}  // namespace

episode_view::episode_view(const episode_report& what)
    : report(what),
      unit_counts(what.spikes.unit_count()),
      places(places_of(what.spikes, what.run.input.path)) {
    check(what);
    const auto& episodes = what.table.episodes;
    judged = what.surrogates.empty() ? what.assessed
                                     : with_surrogate_tests(what.assessed, what.surrogates);
    order.resize(episodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {
        return std::tuple(-static_cast<std::int64_t>(episodes[i].what.size()), judged[i].q,
                          judged[i].p, -static_cast<std::int64_t>(episodes[i].count), i);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
    number.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = k + 1;
    maximal.resize(episodes.size());
    for (const std::size_t i : maximal_episodes(what.table)) maximal[i] = true;
    for (const unit_id unit : what.spikes.units()) ++unit_counts[to_index(unit)];
}

bool episode_view::significant(std::size_t episode) const {
    return judged[episode].q < report.circuit_rules.alpha;
}

double episode_view::rate_hz(std::size_t unit) const {
    const double seconds = to_seconds(report.spikes.observed_time());
    return seconds > 0 ? static_cast<double>(unit_counts[unit]) / seconds : 0;
}

std::vector<std::size_t> episode_view::loose_edges() const {
    std::set<std::pair<unit_id, unit_id>> taken;
    for (const std::size_t i : report.circuit.chains) {
        const std::vector<unit_id>& units = report.table.episodes[i].what.units;
        for (std::size_t k = 1; k < units.size(); ++k) taken.emplace(units[k - 1], units[k]);
    }
    const auto& edges = report.circuit.edges;
    std::vector<std::size_t> out;
    for (std::size_t e = 0; e < edges.size(); ++e)
        if (edges[e].is_connection() && (edges[e].sign == connection_sign::inhibitory ||
                                         !taken.contains({edges[e].from, edges[e].to})))
            out.push_back(e);
    std::stable_sort(out.begin(), out.end(),
                     [&](auto a, auto b) { return edges[a].strength > edges[b].strength; });
    return out;
}

}  // namespace spikeweave::report
