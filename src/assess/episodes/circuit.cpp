#include "spikeweave/assess/episodes/circuit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "assess/episodes/triples.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"

namespace spikeweave {

using assess::triple_counts;

namespace {

using unit_pair = std::pair<unit_id, unit_id>;

bool overlap(const delay_interval& a, const delay_interval& b) {
    return a.low < b.high && b.low < a.high;
}

bool inside(const delay_interval& inner, const delay_interval& outer) {
    return outer.low <= inner.low && inner.high <= outer.high;
}

delay_interval sum(const delay_interval& a, const delay_interval& b) {
    return {a.low + b.low, a.high + b.high};
}

// The delays at which c follows b if both follow a.
delay_interval difference(const delay_interval& to_c, const delay_interval& to_b) {
    return {to_c.low - to_b.high, to_c.high - to_b.low};
}

void check(const spike_sequence& spikes, const episode_table& table,
           std::span<const episode_test> assessed, const circuit_options& options) {
    if (assessed.size() != table.episodes.size())
        throw invalid_argument(fmt::format("{} episodes of the table, but {} assessed",
                                           table.episodes.size(), assessed.size()));
    for (const counted_episode& counted : table.episodes)
        for (const unit_id unit : counted.what.units)
            if (to_index(unit) >= spikes.unit_count())
                throw invalid_argument("the table is not of these spikes");
    if (!(options.alpha > 0 && options.alpha <= 1))
        throw invalid_argument(
            fmt::format("alpha must be above 0 and at most 1, not {}", options.alpha));
    if (!(options.explained > 0 && options.explained <= 1))
        throw invalid_argument(fmt::format(
            "the explained fraction must be above 0 and at most 1, not {}", options.explained));
}

// The significant intervals of a pair become one edge: the best interval, with the intervals around
// it that touch or overlap.
circuit_edge edge_of(std::span<const std::size_t> members, const episode_table& table,
                     std::span<const episode_test> assessed) {
    const auto interval = [&](std::size_t i) { return table.episodes[i].what.delays.front(); };
    // p can be 0 for several intervals, if it is too small for a double; then the strength decides.
    const std::size_t best = *std::min_element(members.begin(), members.end(), [&](auto a, auto b) {
        const auto key = [&](std::size_t i) {
            return std::tuple(assessed[i].p, -assessed[i].strength, interval(i));
        };
        return key(a) < key(b);
    });
    delay_interval delay = interval(best);
    for (bool grown = true; grown;) {
        grown = false;
        for (const std::size_t i : members) {
            const auto [low, high] = interval(i);
            if (low > delay.high || high < delay.low || inside({low, high}, delay)) continue;
            delay = {std::min(low, delay.low), std::max(high, delay.high)};
            grown = true;
        }
    }
    const episode& what = table.episodes[best].what;
    const episode_test& test = assessed[best];
    return {what.units[0], what.units[1], delay,  interval(best), table.episodes[best].count,
            test.expected, test.p,        test.q, test.strength,  edge_kind::direct};
}

// Measures the timing of the edges, and marks those that come from one neuron in two units, from
// what two electrodes record at once, or from what one detector misses.
void mark_artefacts(std::vector<circuit_edge>& edges, const spike_sequence& spikes,
                    const execution& run) {
    if (edges.empty()) return;
    std::vector<episode> pairs;
    pairs.reserve(edges.size());
    for (const circuit_edge& edge : edges) pairs.push_back({{edge.from, edge.to}, {edge.delay}});
    const std::vector<edge_timing> timing = time_edges(spikes, pairs, run);
    std::set<unit_pair> repeated;
    for (const shared_spike_pair& pair : find_shared_spikes(spikes))
        if (pair.repeats) repeated.insert({{pair.fewer, pair.more}, {pair.more, pair.fewer}});
    for (std::size_t e = 0; e < edges.size(); ++e) {
        edges[e].timing = timing[e];
        if (repeated.contains({edges[e].from, edges[e].to}))
            edges[e].kind = edge_kind::shared_spikes;
        else if (timing[e].is_synchronous)
            edges[e].kind = edge_kind::synchronous;
        else if (timing[e].lacks_synchrony)
            edges[e].kind = edge_kind::dead_time;
    }
}

bool is_artefact(const circuit_edge& edge) {
    return edge.kind == edge_kind::shared_spikes || edge.kind == edge_kind::synchronous ||
           edge.kind == edge_kind::dead_time;
}

class explainer {
public:
    explainer(const spike_sequence& spikes, const episode_table& table,
              std::span<const episode_test> assessed, const circuit_options& options,
              const execution& run)
        : options_(options), counts_(spikes, table, run), unit_counts_(spikes.unit_count()) {
        for (const unit_id unit : spikes.units()) ++unit_counts_[to_index(unit)];
        std::map<unit_pair, std::vector<std::size_t>> significant;
        for (std::size_t i = 0; i < table.episodes.size(); ++i) {
            const auto& [what, count] = table.episodes[i];
            if (what.size() != 2 || !(assessed[i].q < options.alpha)) continue;
            significant[{what.units[0], what.units[1]}].push_back(i);
        }
        for (const auto& [pair, members] : significant) {
            const std::size_t e = edges_.size();
            edge_index_[pair] = e;
            outgoing_[pair.first].push_back(e);
            edges_.push_back(edge_of(members, table, assessed));
            std::vector<leg>& legs = legs_.emplace_back();
            for (const std::size_t i : members)
                legs.push_back({table.episodes[i].what.delays.front(), table.episodes[i].count});
        }
        mark_artefacts(edges_, spikes, run);
    }

    std::vector<circuit_edge> explained_edges() {
        mark_indirect();
        mark_common_input();
        return std::move(edges_);
    }

private:
    // One significant interval of a pair.
    struct leg {
        delay_interval delay;
        std::uint64_t count;
    };
    // A path from the edge's first unit through `over` to its second.
    struct path {
        std::size_t edge;
        std::size_t first;
        std::size_t second;
        leg to_middle;
        episode what;
    };

    std::uint64_t unit_count(unit_id unit) const { return unit_counts_[to_index(unit)]; }

    // All paths of two significant steps whose summed delay can be that of a significant pair.
    std::vector<path> paths_beside(std::size_t e) const {
        std::vector<path> paths;
        const circuit_edge& edge = edges_[e];
        for (const std::size_t first : outgoing_.at(edge.from)) {
            const unit_id middle = edges_[first].to;
            if (middle == edge.from || middle == edge.to) continue;
            const auto second = edge_index_.find({middle, edge.to});
            if (second == edge_index_.end()) continue;
            if (is_artefact(edges_[first]) || is_artefact(edges_[second->second])) continue;
            for (const leg& a : legs_[first])
                for (const leg& b : legs_[second->second])
                    if (overlap(sum(a.delay, b.delay), edge.best))
                        paths.push_back({e,
                                         first,
                                         second->second,
                                         a,
                                         {{edge.from, middle, edge.to}, {a.delay, b.delay}}});
        }
        return paths;
    }

    // a→b→c makes up most of what a→c has beyond chance, and without b in between, c follows a much
    // less often. The second condition tells a path from common input, where c follows a with or
    // without b.
    bool path_explains(const path& way, std::uint64_t over_path) const {
        const circuit_edge& edge = edges_[way.edge];
        const auto both = static_cast<double>(over_path);
        const auto pairs = static_cast<double>(edge.count);
        if (both < options_.explained * (pairs - edge.expected)) return false;
        const auto starts = static_cast<double>(unit_count(edge.from));
        const double without_middle = starts - static_cast<double>(way.to_middle.count);
        if (!(without_middle > 0)) return true;
        const double rest = std::max(0.0, pairs - both) / without_middle;
        return rest <= (pairs / starts) / 2;
    }

    // Whether edge e is indirect because of edge `on`, directly or through other edges.
    bool rests_on(std::size_t e, std::size_t on) const {
        if (e == on) return true;
        const auto found = reasons_.find(e);
        return found != reasons_.end() &&
               (rests_on(found->second.first, on) || rests_on(found->second.second, on));
    }

    // The weakest edge comes first, so that the result does not depend on the names of the units.
    void mark_indirect() {
        std::vector<std::size_t> weakest_first(edges_.size());
        std::iota(weakest_first.begin(), weakest_first.end(), std::size_t{0});
        std::stable_sort(weakest_first.begin(), weakest_first.end(), [&](auto a, auto b) {
            const auto key = [&](std::size_t e) {
                return std::tuple(edges_[e].strength, edges_[e].count, edges_[e].expected);
            };
            return key(a) < key(b);
        });
        for (const std::size_t e : weakest_first) {
            for (path& way : paths_beside(e)) waiting_.push_back(std::move(way));
            if (is_artefact(edges_[e])) continue;
            if (waiting_.size() >= batch) settle();
        }
        settle();
    }

    // Two edges must not explain each other: the stronger one stays direct. If there are several
    // paths beside an edge, the most frequent one explains it.
    void settle() {
        std::vector<episode> asked;
        asked.reserve(waiting_.size());
        for (const path& way : waiting_) asked.push_back(way.what);
        const std::vector<std::uint64_t> counts = counts_.of(asked);
        const auto support = [&](std::size_t i) {
            const path& way = waiting_[i];
            return std::tuple(counts[i], edges_[way.first].strength, edges_[way.second].strength,
                              way.what.delays);
        };
        std::vector<std::size_t> order;
        for (std::size_t begin = 0, end = 0; begin < waiting_.size(); begin = end) {
            while (end < waiting_.size() && waiting_[end].edge == waiting_[begin].edge)
                order.push_back(end++);
            std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end(),
                             [&](auto a, auto b) { return support(a) > support(b); });
        }
        for (const std::size_t i : order) {
            const path& way = waiting_[i];
            circuit_edge& edge = edges_[way.edge];
            if (edge.kind != edge_kind::direct || !path_explains(way, counts[i])) continue;
            if (rests_on(way.first, way.edge) || rests_on(way.second, way.edge)) continue;
            edge.kind = edge_kind::indirect;
            edge.via = way.what.units[1];
            reasons_[way.edge] = {way.first, way.second};
        }
        waiting_.clear();
    }

    // Finds edges b→c for which a→b and a→c are direct, most of b→c comes after a, and a predicts c
    // better than b does.
    void mark_common_input() {
        std::vector<std::pair<std::size_t, episode>> cases;  // edge b→c, and a→b→c
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            const circuit_edge& edge = edges_[e];
            if (edge.kind != edge_kind::direct) continue;
            for (const auto& [source, out] : outgoing_) {
                if (source == edge.from || source == edge.to) continue;
                const circuit_edge* const to_b = direct(source, edge.from);
                const circuit_edge* const to_c = direct(source, edge.to);
                if (to_b == nullptr || to_c == nullptr || !(edge.strength < to_c->strength) ||
                    !overlap(difference(to_c->best, to_b->best), edge.best))
                    continue;
                cases.push_back({e, {{source, edge.from, edge.to}, {to_b->best, edge.best}}});
            }
        }
        std::vector<episode> asked;
        asked.reserve(cases.size());
        for (const auto& [e, what] : cases) asked.push_back(what);
        const std::vector<std::uint64_t> counts = counts_.of(asked);
        // All edges change at once, judged by their old state, since their order must not matter.
        for (std::size_t i = 0; i < cases.size(); ++i) {
            circuit_edge& edge = edges_[cases[i].first];
            if (edge.kind != edge_kind::direct ||
                static_cast<double>(counts[i]) <
                    options_.explained * static_cast<double>(edge.count))
                continue;
            edge.kind = edge_kind::common_input;
            edge.via = cases[i].second.units[0];
        }
    }

    const circuit_edge* direct(unit_id from, unit_id to) const {
        const auto found = edge_index_.find({from, to});
        if (found == edge_index_.end()) return nullptr;
        const circuit_edge& edge = edges_[found->second];
        return edge.kind == edge_kind::direct ? &edge : nullptr;
    }

    static constexpr std::size_t batch = 20'000;

    circuit_options options_;
    triple_counts counts_;
    std::vector<std::uint64_t> unit_counts_;
    std::vector<circuit_edge> edges_;
    std::vector<std::vector<leg>> legs_;  // one list per edge
    std::map<unit_pair, std::size_t> edge_index_;
    std::map<unit_id, std::vector<std::size_t>> outgoing_;
    std::vector<path> waiting_;
    std::map<std::size_t, std::pair<std::size_t, std::size_t>> reasons_;
};

// Indices of the episodes that are part of no longer one of `among`, longest first.
std::vector<std::size_t> not_within_longer(const episode_table& table,
                                           std::span<const std::size_t> among) {
    std::map<std::size_t, std::vector<std::size_t>, std::greater<>> of_size;
    for (const std::size_t i : among) of_size[table.episodes[i].what.size()].push_back(i);
    std::vector<std::size_t> out;
    std::set<episode> covered;  // of the current size
    const auto cover = [](const episode& what, std::set<episode>& into) {
        into.insert({{what.units.begin(), what.units.end() - 1},
                     {what.delays.begin(), what.delays.end() - 1}});
        into.insert({{what.units.begin() + 1, what.units.end()},
                     {what.delays.begin() + 1, what.delays.end()}});
    };
    std::size_t size = of_size.empty() ? 0 : of_size.begin()->first;
    for (; size > 0; --size) {
        std::set<episode> next;
        if (size > 1)
            for (const episode& what : covered) cover(what, next);
        if (const auto members = of_size.find(size); members != of_size.end())
            for (const std::size_t i : members->second) {
                const episode& what = table.episodes[i].what;
                if (!covered.contains(what)) out.push_back(i);
                if (size > 1) cover(what, next);
            }
        covered = std::move(next);
    }
    return out;
}

std::vector<std::size_t> find_chains(const episode_table& table,
                                     std::span<const episode_test> assessed,
                                     std::span<const circuit_edge> edges, double alpha) {
    std::map<unit_pair, delay_interval> direct;
    for (const circuit_edge& edge : edges)
        if (edge.kind == edge_kind::direct) direct[{edge.from, edge.to}] = edge.delay;
    const auto along_edges = [&](const episode& what) {
        for (std::size_t k = 0; k < what.delays.size(); ++k) {
            const auto found = direct.find({what.units[k], what.units[k + 1]});
            if (found == direct.end() || !inside(what.delays[k], found->second)) return false;
        }
        return true;
    };
    // Of several chains that differ only in delays, the most frequent one is kept.
    std::map<std::vector<unit_id>, std::size_t> best;
    for (std::size_t i = 0; i < table.episodes.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        if (what.size() < 3 || !(assessed[i].q < alpha) || !along_edges(what)) continue;
        const auto [found, fresh] = best.try_emplace(what.units, i);
        if (!fresh && count > table.episodes[found->second].count) found->second = i;
    }
    // Delays were chosen for each sequence of units, so only the units say which chain contains
    // which.
    episode_table units_only;
    std::vector<std::size_t> all;
    std::vector<std::size_t> original;
    for (const auto& [units, i] : best) {
        all.push_back(all.size());
        original.push_back(i);
        units_only.episodes.push_back(
            {{units, std::vector<delay_interval>(units.size() - 1)}, table.episodes[i].count});
    }
    std::vector<std::size_t> chains;
    for (const std::size_t k : not_within_longer(units_only, all)) chains.push_back(original[k]);
    return chains;
}

}  // namespace

std::string_view to_string(edge_kind kind) {
    switch (kind) {
        case edge_kind::direct:
            return "direct";
        case edge_kind::indirect:
            return "indirect";
        case edge_kind::common_input:
            return "common-input";
        case edge_kind::shared_spikes:
            return "shared-spikes";
        case edge_kind::synchronous:
            return "synchronous";
        case edge_kind::dead_time:
            return "dead-time";
    }
    return "?";
}

circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                     std::span<const episode_test> assessed, const circuit_options& options,
                     const execution& run) {
    check(spikes, table, assessed, options);
    circuit out;
    out.edges = explainer(spikes, table, assessed, options, run).explained_edges();
    out.chains = find_chains(table, assessed, out.edges, options.alpha);
    return out;
}

std::vector<std::size_t> maximal_episodes(const episode_table& table) {
    std::vector<std::size_t> all(table.episodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return not_within_longer(table, all);
}

}  // namespace spikeweave
