#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "core/stop.hpp"
#include "report/columns.hpp"
#include "report/episodes/parts.hpp"
#include "spikeweave/assess/episodes/correlogram.hpp"

namespace spikeweave::report {
namespace {

std::string interval_text(const delay_interval& delay) {
    return fmt::format("({},{}]", milliseconds(delay.low), milliseconds(delay.high));
}

}  // namespace

std::string units_text(std::span<const std::string> names, const episode& what) {
    std::string out = names[to_index(what.units.front())];
    for (std::size_t k = 1; k < what.units.size(); ++k) out += "→" + names[to_index(what.units[k])];
    return out;
}

std::string delays_text(const episode& what) {
    if (what.delays.empty()) return "-";
    std::string out;
    for (const delay_interval& delay : what.delays) out += interval_text(delay) + ' ';
    return out + "ms";
}

void write_episodes(const episode_view& p, const std::function<void(std::string_view)>& write,
                    const execution& run) {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    const episode_report& report = p.report;
    std::string out =
        "episode\tsize\tunits\tdelays\tcount\texpected\tp\tq\tstrength\tsignificant\tmaximal";
    if (!report.surrogates.empty())
        out +=
            "\tindependent_expected\tindependent_p\tindependent_q\tsurrogate_mean\tsurrogate_p"
            "\tsurrogate_q\tsurrogate_tail_p\tsurrogate_tail_q";
    if (report.searched) out += "\tsearch_count\tsearch_expected\tsearch_p\tsearch_q";
    out += '\n';
    for (const std::size_t i : p.order) {
        const auto& [what, count] = report.table.episodes[i];
        const episode_test& test = p.judged[i];
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                       p.number[i], what.size(), units_text(report.spikes.unit_names(), what),
                       delays_text(what), count, number_text(test.expected), number_text(test.p),
                       number_text(test.q), number_text(test.strength), yes_no(p.significant(i)),
                       yes_no(p.maximal[i]));
        if (!report.surrogates.empty()) {
            const surrogate_test& s = report.surrogates[i];
            const episode_test& independent = report.assessed[i];
            for (const double value : {independent.expected, independent.p, independent.q,
                                       s.mean_count, s.p, s.q, s.tail_p, s.tail_q})
                out += '\t' + number_text(value);
        }
        if (report.searched) {
            const episode_test& found = report.searched->tests[i];
            out += fmt::format("\t{}", report.searched->counts[i]);
            for (const double value : {found.expected, found.p, found.q})
                out += '\t' + number_text(value);
        }
        out += '\n';
        if (out.size() < piece) continue;
        core::throw_if_stopped(run.stop);
        write(out);
        out.clear();
    }
    write(out);
}

std::string circuit_tsv(const episode_view& p) {
    std::string out = tsv_heading(described_row(circuit_edge{})) + '\n';
    for (const circuit_edge& edge : p.report.circuit.edges)
        out += tsv_line(described_row(edge), p.report.spikes.unit_names()) + '\n';
    return out;
}

std::string lags_tsv(const episode_view& p, const execution& run) {
    const std::vector<circuit_edge>& edges = p.report.circuit.edges;
    std::vector<lags_of_pair> pairs;
    pairs.reserve(edges.size());
    for (const circuit_edge& edge : edges)
        pairs.push_back({edge.from, edge.to, bins_for(edge.delay)});
    const auto counts = cross_correlograms(p.report.spikes, pairs, run);
    std::string out = "from\tto\tlag_above_ms\tlag_up_to_ms\tpairs\n";
    for (std::size_t e = 0; e < edges.size(); ++e) {
        const lag_bins& bins = pairs[e].bins;
        duration begin = -bins.reach();
        for (const std::uint64_t count : counts[e]) {
            fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\n", p.name(edges[e].from),
                           p.name(edges[e].to), milliseconds(begin),
                           milliseconds(begin + bins.width), count);
            begin += bins.width;
        }
    }
    return out;
}

std::string pairs_tsv(const episode_view& p) {
    const auto kinds =
        kinds_of_pairs(*p.report.pairs, p.report.circuit, p.report.circuit_rules.alpha);
    std::string out = "from\tto\tsign\tdelay\tcount\texpected\tgain\tp\tq\tkind\n";
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const pair_test& pair = p.report.pairs->pairs[i];
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{} ms\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       p.name(pair.from), p.name(pair.to), to_string(pair.sign),
                       interval_text(pair.delay), pair.count, number_text(pair.expected),
                       number_text(static_cast<double>(pair.count) / pair.expected),
                       number_text(pair.p), number_text(pair.q),
                       kinds[i] ? to_string(*kinds[i]) : "-");
    }
    return out;
}

std::string untested_tsv(const search_part& searched) {
    std::string out =
        "size\tunits\tdelays\tmissing\tsearch_count\tsearch_expected\tsearch_p\tsearch_q\n";
    for (const auto& [found, test] : searched.untested)
        out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", found.what.size(),
                           units_text(searched.unit_names, found.what), delays_text(found.what),
                           fmt::join(missing_units_of(found.what, searched), ","), found.count,
                           number_text(test.expected), number_text(test.p), number_text(test.q));
    return out;
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
