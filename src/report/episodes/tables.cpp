#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/columns.hpp"
#include "report/episodes/view.hpp"
#include "spikeweave/assess/episodes/correlogram.hpp"

namespace spikeweave::report {
namespace {

void add_test(row& to, const std::string& name, const episode_test& test,
              std::string_view help = {}) {
    to.push_back({name + "_expected", test.expected, help});
    to.push_back({name + "_p", test.p});
    to.push_back({name + "_q", test.q});
}

// A row; without an index one with the same columns.
// Documents have the strength of the search, too.
row row_of_episode(const episode_view& p, std::optional<std::size_t> i, table_use use) {
    const auto of = [&](const auto& all) {
        using item = typename std::remove_cvref_t<decltype(all)>::value_type;
        return i ? item{all[*i]} : item{};
    };
    const counted_episode found = of(p.report.table.episodes);
    row out = counted_row(of(p.number), found);
    for (column& one : described_row(of(p.judged))) out.push_back(std::move(one));
    out.push_back({"significant", i && p.significant(*i), "yes if q is below α, otherwise no"});
    out.push_back({"maximal", of(p.maximal),
                   "yes if the episode is not contained in a longer frequent one, otherwise no"});
    if (!p.report.surrogates.empty()) {
        add_test(out, "independent", of(p.report.assessed),
                 "only with surrogates: the same under the null hypothesis of `--test`");
        const surrogate_test drawn = of(p.report.surrogates);
        out.push_back({"surrogate_mean", drawn.mean_count,
                       "only with surrogates: mean count in the surrogates"});
        out.push_back({"surrogate_p", drawn.p,
                       "only with surrogates: p by the rank of the count among those of the "
                       "surrogates"});
        out.push_back({"surrogate_q", drawn.q});
        out.push_back({"surrogate_tail_p", drawn.tail_p,
                       "only with surrogates: p by the tail of a distribution with their mean"});
        out.push_back({"surrogate_tail_q", drawn.tail_q});
    }
    if (!p.report.searched) return out;
    out.push_back({"search_count", of(p.report.searched->counts),
                   "only with `--hold-out` and `--confirm`: the same in the spikes that were "
                   "searched; all other values refer to the held-out time, or to the recording "
                   "given with `--confirm`"});
    add_test(out, "search", of(p.report.searched->tests));
    if (use == table_use::document_only)
        out.push_back({"search_strength", of(p.report.searched->tests).strength});
    return out;
}

row pair_row(const pair_test& pair, const std::optional<edge_kind>& kind) {
    return {{"from", pair.from, "the pair, and the sign with the smaller p"},
            {"to", pair.to},
            {"sign", to_string(pair.sign)},
            {"delay", pair.delay, "the window with the smallest p among those of this sign"},
            {"count", pair.count,
             "as in `circuit.tsv`; q is 1 for pairs that could not be significant"},
            {"expected", pair.expected},
            {"gain", static_cast<double>(pair.count) / pair.expected},
            {"p", pair.p},
            {"q", pair.q},
            {"kind", kind ? to_string(*kind) : "-",
             "that of the edge in `circuit.tsv`; `-` if q is not below α, or at a slow delay of a "
             "pair that has an edge at a synaptic one"}};
}

// The units are those of the recording that was searched.
row untested_row(const untested_episode& one, const episode_search& searched, table_use use) {
    const auto& [found, test] = one;
    std::vector<std::string> names;
    std::vector<std::string> missing;
    for (const unit_id unit : found.what.units) {
        const std::string& name = names.emplace_back(searched.unit_names[to_index(unit)]);
        const auto is_in = [&](const std::vector<std::string>& list) {
            return std::ranges::find(list, name) != list.end();
        };
        if (is_in(searched.missing_units) && !is_in(missing)) missing.push_back(name);
    }
    row out{{"size", std::uint64_t{names.size()}, "as in `episodes.tsv`"},
            {"units", joined_list<std::string>{std::move(names), "→"}},
            {"delays", found.what.delays},
            {"missing", joined_list<std::string>{std::move(missing), ","},
             "the units that the other recording lacks, joined by commas"},
            {"search_count", found.count, "as in `episodes.tsv`"}};
    add_test(out, "search", test);
    if (use == table_use::document_only) out.push_back({"search_strength", test.strength});
    return out;
}

row lag_row(const lags_of_pair& of, std::size_t bin, std::uint64_t pairs) {
    const duration above = of.bins.width * static_cast<std::int64_t>(bin) - of.bins.reach();
    return {
        {"from", of.from, "the edge"},
        {"to", of.to},
        {"lag_above", std::optional(above),
         "the bin: the lag of spikes of `to` after those of `from` is above the first and up to "
         "the second; 60 bins on each side reach at least three times the longest delay of the "
         "edge, as on the page"},
        {"lag_up_to", std::optional(above + of.bins.width)},
        {"pairs", pairs, "number of pairs of spikes with such a lag"}};
}

}  // namespace

row counted_row(std::uint64_t number, const counted_episode& found) {
    return {{"episode", number, "the number of the episode, by which other files refer to it"},
            {"size", std::uint64_t{found.what.size()}, "number of units"},
            {"units", joined_list<unit_id>{found.what.units, "→"},
             "the units in the order of firing, joined by `→`"},
            {"delays", found.what.delays,
             "the delay interval of each step, as `(low,high] … ms`; `-` for a single unit"},
            {"count", found.count, "occurrences without overlap"}};
}

std::string units_text(std::span<const std::string> names, const episode& what) {
    return cell_of(joined_list<unit_id>{what.units, "→"}, names);
}

std::string chain_text(std::span<const std::string> names, const episode& what) {
    std::string text = names[to_index(what.units.front())];
    for (std::size_t k = 0; k < what.delays.size(); ++k)
        text += fmt::format(" →{}→ {}", format_delays({&what.delays[k], 1}),
                            names[to_index(what.units[k + 1])]);
    return text;
}

result_table episodes_table(const episode_view& p, table_use use) {
    return {.name = "episodes",
            .size = p.order.size(),
            .at = [&p, use](std::size_t i) { return row_of_episode(p, p.order[i], use); },
            .names = row_of_episode(p, {}, use),
            .use = use};
}

result_table circuit_table(const episode_view& p) {
    return described_table("circuit", p.report.circuit.edges);
}

result_table pairs_table(const episode_view& p) {
    const pair_tests& tests = *p.report.pairs;
    return {"pairs", tests.pairs.size(),
            [&tests, kinds = kinds_of_pairs(tests, p.report.circuit, p.report.circuit_rules.alpha)](
                std::size_t i) { return pair_row(tests.pairs[i], kinds[i]); },
            pair_row({}, {})};
}

result_table untested_table(const episode_search& searched, table_use use) {
    return {.name = "untested",
            .size = searched.untested.size(),
            .at = [&searched, use](
                      std::size_t i) { return untested_row(searched.untested[i], searched, use); },
            .names = untested_row({}, searched, use),
            .use = use};
}

std::vector<edge_correlogram> correlograms_of(const episode_view& p, const execution& run) {
    std::vector<tested_lags> tested;
    for (const circuit_edge& edge : p.report.circuit.edges)
        tested.push_back({{edge.from, edge.to, bins_for(edge.delay)}, edge.best, edge.sign});
    return edge_correlograms(p.report.spikes, tested, p.report.circuit_rules.jitter_window, run);
}

result_table expected_lags_table(std::span<const edge_correlogram> of_edges) {
    const auto row_of = [](std::vector<double> expected) {
        return row{{"expected", joined_list<double>{std::move(expected), " "}}};
    };
    return {.name = "lags",
            .size = of_edges.size(),
            .at = [row_of, of_edges](std::size_t i) { return row_of(of_edges[i].expected); },
            .names = row_of({}),
            .use = table_use::document_only};
}

result_table lags_table(const episode_view& p, std::span<const edge_correlogram> of_edges) {
    constexpr std::size_t of_an_edge = 2 * lag_bins{}.each_side;
    const std::vector<circuit_edge>& edges = p.report.circuit.edges;
    return {.name = "lags",
            .size = edges.size() * of_an_edge,
            .at =
                [&edges, of_edges](std::size_t i) {
                    const circuit_edge& edge = edges[i / of_an_edge];
                    return lag_row({edge.from, edge.to, bins_for(edge.delay)}, i % of_an_edge,
                                   of_edges[i / of_an_edge].counts[i % of_an_edge]);
                },
            .names = lag_row({}, 0, 0),
            .use = table_use::file_only};
}

void write_occurrences(const episode_view& p, const std::function<void(std::string_view)>& write,
                       const execution& run) {
    // The episodes of the circuit: its chains, and the pairs of its direct edges.
    std::set<std::size_t> wanted(p.report.circuit.chains.begin(), p.report.circuit.chains.end());
    std::set<episode> pairs;
    for (const circuit_edge& edge : p.report.circuit.edges)
        if (edge.is_connection()) pairs.insert({{edge.from, edge.to}, {edge.best}});
    for (std::size_t i = 0; i < p.order.size(); ++i)
        if (pairs.contains(p.report.table.episodes[i].what)) wanted.insert(i);

    write("episode\toccurrence\tposition\tunit\ttime_s\n");
    std::string piece;
    std::size_t done = 0;
    for (const std::size_t i : p.order) {
        if (!wanted.contains(i)) continue;
        core::throw_if_stopped(run.stop);
        if (run.on_progress) run.on_progress({"writing occurrences", done++, wanted.size()});
        const episode& what = p.report.table.episodes[i].what;
        const auto occurrences = find_occurrences(p.report.spikes, what, p.report.table.ties);
        piece.clear();
        for (std::size_t o = 0; o < occurrences.size(); ++o)
            for (std::size_t n = 0; n < occurrences[o].size(); ++n)
                fmt::format_to(std::back_inserter(piece), "{}\t{}\t{}\t{}\t{:.6f}\n", p.number[i],
                               o + 1, n + 1, p.name(what.units[n]),
                               to_seconds(duration{occurrences[o][n]}));
        write(piece);
    }
}

}  // namespace spikeweave::report

namespace spikeweave {

std::vector<std::optional<edge_kind>> kinds_of_pairs(const pair_tests& pairs, const circuit& found,
                                                     double alpha) {
    std::map<std::tuple<unit_id, unit_id, delay_interval>, edge_kind> kinds;
    for (const circuit_edge& edge : found.edges) kinds[{edge.from, edge.to, edge.best}] = edge.kind;
    std::vector<std::optional<edge_kind>> out;
    out.reserve(pairs.pairs.size());
    for (const pair_test& pair : pairs.pairs) {
        const auto kind = kinds.find({pair.from, pair.to, pair.delay});
        out.push_back(pair.q < alpha && kind != kinds.end() ? std::optional(kind->second)
                                                            : std::nullopt);
    }
    return out;
}

}  // namespace spikeweave

namespace spikeweave::report {

std::string circuit_graphml(const episode_view& p, const execution& run) {
    const auto node = [&](std::size_t unit) {
        return row{{"count", p.unit_counts[unit]}, {"rate_hz", p.rate_hz(unit)}};
    };
    return graphml_of(
        "circuit", p.report.spikes.unit_names(),
        {"units", p.unit_counts.size(), node, row{{"count", std::uint64_t{0}}, {"rate_hz", 0.0}}},
        circuit_table(p), run);
}

}  // namespace spikeweave::report
