#include "spikeweave/assess/episodes/circuit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "assess/episodes/explained_edges.hpp"
#include "core/text.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"

namespace spikeweave {

using assess::edge_lags;

namespace {

using unit_pair = std::pair<unit_id, unit_id>;

bool overlap(const delay_interval& a, const delay_interval& b) {
    return a.low < b.high && b.low < a.high;
}

bool inside(const delay_interval& inner, const delay_interval& outer) {
    return outer.low <= inner.low && inner.high <= outer.high;
}

void check(const spike_sequence& spikes, const episode_table& table,
           std::span<const episode_test> assessed, std::span<const pair_test> pairs,
           const circuit_options& options) {
    if (assessed.size() != table.episodes.size())
        throw invalid_argument(fmt::format("{} episodes of the table, but {} assessed",
                                           table.episodes.size(), assessed.size()));
    const auto known = [&](unit_id unit) { return to_index(unit) < spikes.unit_count(); };
    for (const counted_episode& counted : table.episodes)
        if (!std::ranges::all_of(counted.what.units, known))
            throw invalid_argument("the table does not belong to these spikes");
    for (const pair_test& pair : pairs)
        if (!known(pair.from) || !known(pair.to))
            throw invalid_argument("the pairs do not belong to these spikes");
    check_options(
        significance_options{.alpha = options.alpha, .jitter_window = options.jitter_window});
}

// A significant pair, and the adjacent intervals that are significant, too.
struct significant_pair {
    pair_test test;
    delay_interval delay;
    std::optional<double> strength{};  // of a test of episodes
};

// The significant intervals of a pair become one: the best interval, with the intervals around it
// that touch or overlap it.
significant_pair pair_of(std::span<const std::size_t> members, const episode_table& table,
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
    const auto& [what, count] = table.episodes[best];
    const episode_test& test = assessed[best];
    return {{what.units[0], what.units[1], connection_sign::excitatory, false, interval(best),
             count, test.expected, test.p, test.q},
            delay,
            test.strength};
}

std::vector<significant_pair> pairs_of_table(const episode_table& table,
                                             std::span<const episode_test> assessed, double alpha) {
    std::map<unit_pair, std::vector<std::size_t>> significant;
    for (std::size_t i = 0; i < table.episodes.size(); ++i) {
        const episode& what = table.episodes[i].what;
        if (what.size() == 2 && assessed[i].q < alpha)
            significant[{what.units[0], what.units[1]}].push_back(i);
    }
    std::vector<significant_pair> out;
    for (const auto& [pair, members] : significant)
        out.push_back(pair_of(members, table, assessed));
    return out;
}

// One for each ordered pair of units: a synaptic delay precedes a slow one, then the smaller p
// counts.
std::vector<significant_pair> significant_among(std::span<const pair_test> pairs,
                                                const edge_lags& lags, double alpha,
                                                const execution& run) {
    std::map<unit_pair, const pair_test*> best;
    for (const pair_test& one : pairs) {
        if (!(one.q < alpha)) continue;
        const pair_test*& kept = best[{one.from, one.to}];
        if (kept == nullptr || std::tuple(one.slow, one.p) < std::tuple(kept->slow, kept->p))
            kept = &one;
    }
    std::vector<significant_pair> out;
    out.reserve(best.size());
    for (const auto& [pair, test] : best) out.push_back({*test, test->delay});
    parallel::parallel_for(out.size(), run, "delays of edges",
                           [&](std::size_t i) { out[i].delay = lags.extent_of(out[i].test); });
    return out;
}

// 95 % of a normal variable are within so many standard deviations.
constexpr double within = 1.959964;

// The number of lags beside the window, which the expectation is estimated from, is about this many
// times that in it.
constexpr double lags_beside = 4;

estimate gain_of(double count, double expected) {
    const double gain = count / expected;
    const double error = std::sqrt(1 / (count + 0.5) + 1 / (lags_beside * (expected + 0.5)));
    const double middle = (count + 0.5) / (expected + 0.5);
    return {gain, std::min(gain, middle * std::exp(-within * error)),
            std::max(gain, middle * std::exp(within * error))};
}

estimate transmission_of(double count, double expected, double sources) {
    const double value = (count - expected) / sources;
    const double error = within * std::sqrt(count + expected / lags_beside + 0.5) / sources;
    return {value, value - error, value + error};
}

circuit_edge edge_of(const significant_pair& pair, std::uint64_t sources) {
    const pair_test& test = pair.test;
    const auto count = static_cast<double>(test.count);
    const auto of = static_cast<double>(std::max<std::uint64_t>(sources, 1));
    const double expected = std::max(test.expected, 1e-9);
    return {.from = test.from,
            .to = test.to,
            .sign = test.sign,
            .delay = pair.delay,
            .best = test.delay,
            .count = test.count,
            .expected = test.expected,
            .p = test.p,
            .q = test.q,
            .strength = pair.strength.value_or(std::min(1.0, count / of)),
            .gain = gain_of(count, expected),
            .transmission = transmission_of(count, expected, of),
            .kind = test.slow ? edge_kind::slow : edge_kind::direct};
}

// The pairs that the sorter doubts, the lower unit first.
std::map<unit_pair, edge_kind> doubtful_pairs_of(const spike_sequence& spikes) {
    std::map<std::string_view, unit_id> units;
    for (std::uint32_t u = 0; u < spikes.unit_count(); ++u)
        units.emplace(spikes.name(unit_id{u}), unit_id{u});
    std::map<unit_pair, edge_kind> out;
    for (const doubtful_pair& pair : spikes.doubtful_pairs()) {
        const auto one = units.find(pair.one);
        const auto other = units.find(pair.other);
        if (one == units.end() || other == units.end()) continue;
        out.emplace(std::minmax(one->second, other->second), pair.why == unit_doubt::one_neuron
                                                                 ? edge_kind::one_neuron
                                                                 : edge_kind::cross_talk);
    }
    return out;
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
    for (const shared_spike_pair& pair : find_shared_spikes(spikes, {}, run))
        if (pair.repeats) repeated.insert({{pair.fewer, pair.more}, {pair.more, pair.fewer}});
    const std::map<unit_pair, edge_kind> doubtful = doubtful_pairs_of(spikes);
    for (std::size_t e = 0; e < edges.size(); ++e) {
        edges[e].timing = timing[e];
        const auto doubt = doubtful.find(std::minmax(edges[e].from, edges[e].to));
        if (repeated.contains({edges[e].from, edges[e].to}))
            edges[e].kind = edge_kind::shared_spikes;
        else if (doubt != doubtful.end())
            edges[e].kind = doubt->second;
        else if (timing[e].is_synchronous && edges[e].sign == connection_sign::excitatory)
            edges[e].kind = edge_kind::synchronous;
        else if (timing[e].lacks_synchrony)
            edges[e].kind = edge_kind::dead_time;
    }
}

std::vector<circuit_edge> edges_from(std::span<const significant_pair> pairs,
                                     const spike_sequence& spikes, const edge_lags& lags,
                                     double alpha, const execution& run) {
    std::vector<circuit_edge> edges;
    edges.reserve(pairs.size());
    for (const significant_pair& pair : pairs)
        edges.push_back(edge_of(pair, lags.spike_count(pair.test.from)));
    mark_artefacts(edges, spikes, run);
    assess::mark_stimulus_locked(edges, spikes, alpha, run);
    assess::mark_explained(edges, lags, run);
    return edges;
}

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
        if (edge.is_step()) direct[{edge.from, edge.to}] = edge.delay;
    const auto along_edges = [&](const episode& what) {
        for (std::size_t k = 0; k < what.delays.size(); ++k) {
            const auto found = direct.find({what.units[k], what.units[k + 1]});
            if (found == direct.end() || !overlap(what.delays[k], found->second)) return false;
        }
        return true;
    };
    // If several chains differ only in delays, the most frequent one is kept.
    std::map<std::vector<unit_id>, std::size_t> best;
    for (std::size_t i = 0; i < table.episodes.size(); ++i) {
        const auto& [what, count] = table.episodes[i];
        if (what.size() < 3 || !(assessed[i].q < alpha) || !along_edges(what)) continue;
        const auto [found, fresh] = best.try_emplace(what.units, i);
        if (!fresh && count > table.episodes[found->second].count) found->second = i;
    }
    // Delays were chosen for each sequence of units, so only the units determine which chain
    // contains which.
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
        case edge_kind::undecided:
            return "undecided";
        case edge_kind::slow:
            return "slow";
        case edge_kind::shared_spikes:
            return "shared-spikes";
        case edge_kind::synchronous:
            return "synchronous";
        case edge_kind::dead_time:
            return "dead-time";
        case edge_kind::stimulus_locked:
            return "stimulus-locked";
        case edge_kind::one_neuron:
            return to_string(unit_doubt::one_neuron);
        case edge_kind::cross_talk:
            return to_string(unit_doubt::cross_talk);
    }
    return "?";
}

circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                     std::span<const episode_test> assessed, std::span<const pair_test> pairs,
                     const circuit_options& options, const execution& run) {
    check(spikes, table, assessed, pairs, options);
    const edge_lags lags(spikes, assess::longest_delay(pairs), options.jitter_window);
    circuit out;
    out.edges = edges_from(significant_among(pairs, lags, options.alpha, run), spikes, lags,
                           options.alpha, run);
    out.chains = find_chains(table, assessed, out.edges, options.alpha);
    return out;
}

circuit find_circuit(const spike_sequence& spikes, const episode_table& table,
                     std::span<const episode_test> assessed, const circuit_options& options,
                     const execution& run) {
    check(spikes, table, assessed, {}, options);
    const std::vector<significant_pair> pairs = pairs_of_table(table, assessed, options.alpha);
    std::vector<pair_test> tests;
    for (const significant_pair& pair : pairs) tests.push_back(pair.test);
    const edge_lags lags(spikes, assess::longest_delay(tests), options.jitter_window);
    circuit out;
    out.edges = edges_from(pairs, spikes, lags, options.alpha, run);
    out.chains = find_chains(table, assessed, out.edges, options.alpha);
    return out;
}

std::vector<std::string> warnings_of(const circuit& found, const spike_sequence& spikes) {
    std::vector<std::string> out;
    for (const auto& [kind, what] :
         {std::pair(edge_kind::one_neuron, "units that may have spikes of the same neuron"),
          std::pair(edge_kind::cross_talk,
                    "units of which one may have what sorting left of the other's spikes")}) {
        std::vector<std::string> edges;
        const auto connections = std::ranges::count_if(found.edges, &circuit_edge::is_connection);
        for (const circuit_edge& edge : found.edges)
            if (edge.kind == kind)
                edges.push_back(
                    fmt::format("{} → {}", spikes.name(edge.from), spikes.name(edge.to)));
        if (edges.empty()) continue;
        const auto all = static_cast<std::size_t>(connections) + edges.size();
        const std::string listed = core::listed(edges);
        out.push_back(fmt::format(
            "{} of {} connections {} {}: {}. {} left out of the connections and chains ({}).",
            core::grouped(edges.size()), core::grouped(all), edges.size() == 1 ? "joins" : "join",
            what, listed, edges.size() == 1 ? "It is" : "They are", to_string(kind)));
    }
    return out;
}

std::vector<unit_id> units_of_both_signs(const circuit& found) {
    std::map<unit_id, std::set<connection_sign>> signs;
    for (const circuit_edge& edge : found.edges)
        if (edge.is_connection()) signs[edge.from].insert(edge.sign);
    std::vector<unit_id> out;
    for (const auto& [unit, of_unit] : signs)
        if (of_unit.size() > 1) out.push_back(unit);
    return out;
}

std::vector<std::size_t> maximal_episodes(const episode_table& table) {
    std::vector<std::size_t> all(table.episodes.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return not_within_longer(table, all);
}

}  // namespace spikeweave
