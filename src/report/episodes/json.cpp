#include <algorithm>
#include <utility>

#include "report/columns.hpp"
#include "report/episodes/parts.hpp"
#include "report/episodes/search_json.hpp"
#include "report/recorded_part.hpp"
#include "report/replication_json.hpp"
#include "report/run_json.hpp"

namespace spikeweave::report {
namespace {

json chains_of(const episode_view& p) {
    json chains = json::array();
    for (const std::size_t i : p.report.circuit.chains) chains.push_back(p.number[i]);
    return chains;
}

json circuit_of(const episode_view& p) {
    json out{{"summary", verdict_of(p)}, {"chains", chains_of(p)}};
    if (const auto& pairs = p.report.pairs)
        out["pairs"] = {
            {"tested", pairs->tested},
            {"possible", pairs->possible},
            {"untested_units", names_json(p.report.spikes.unit_names(), pairs->untested_units)}};
    return out;
}

json search_test(std::uint64_t count, const episode_test& found) {
    return {{"count", count}, {"expected", found.expected}, {"p", found.p}, {"q", found.q}};
}

// How much of what the search found is there in other spikes.
json replication_of(const episode_report& report) {
    const search_part& search = *report.searched;
    const replication_record record{.searched = search.observed,
                                    .tested_in = report.spikes.observed_time(),
                                    .tested = report.table.episodes.size(),
                                    .significant = search.significant,
                                    .replicated = search.replicated};
    if (!search.confirmed_elsewhere) return replication_json(record, {});
    json file = file_json(report.searched_input);
    file["units"] = search.unit_names.size();
    json out = replication_json(
        record,
        other_recording{"searched", std::move(file), search.missing_units, search.untested.size()});
    out["untested_significant"] = std::ranges::count_if(
        search.untested,
        [&](const untested_episode& one) { return one.test.q < report.circuit_rules.alpha; });
    return out;
}

json run_of(const episode_view& p) {
    const episode_report& report = p.report;
    json out = run_json(report.run, contents_of(report.spikes));
    out.update({{"search", search_json(report.table)},
                {"significance",
                 {{"test", to_string(report.significance.test)},
                  {"correction", to_string(report.significance.correction)},
                  {"alpha", report.circuit_rules.alpha},
                  {"tick_ms", ms(report.significance.tick)}}},
                {"circuit", circuit_of(p)}});
    if (!report.surrogates.empty())
        out["surrogates"] = {{"number", report.surrogate.surrogates},
                             {"method", to_string(report.surrogate.method)},
                             {"dither_ms", ms(report.surrogate.dither)},
                             {"seed", report.surrogate.seed}};
    if (report.searched)
        out[report.searched->confirmed_elsewhere ? "confirm" : "hold_out"] = replication_of(report);
    return out;
}

json episodes_of(const episode_view& p) {
    json out = json::array();
    for (const std::size_t i : p.order) {
        const auto& [what, count] = p.report.table.episodes[i];
        json one{{"episode", p.number[i]},
                 {"units", names_json(p.report.spikes.unit_names(), what.units)},
                 {"delays_ms", ms(what.delays)},
                 {"count", count}};
        one.update(json_of(p.judged[i]));
        one["significant"] = p.significant(i);
        one["maximal"] = static_cast<bool>(p.maximal[i]);
        if (!p.report.surrogates.empty()) {
            const surrogate_test& s = p.report.surrogates[i];
            const episode_test& independent = p.report.assessed[i];
            one["independent"] = {
                {"expected", independent.expected}, {"p", independent.p}, {"q", independent.q}};
            one["surrogate"] = {{"mean", s.mean_count},
                                {"p", s.p},
                                {"q", s.q},
                                {"tail_p", s.tail_p},
                                {"tail_q", s.tail_q}};
        }
        if (p.report.searched)
            one["search"] = search_test(p.report.searched->counts[i], p.report.searched->tests[i]);
        out.push_back(std::move(one));
    }
    return out;
}

json edges_of(const episode_view& p) {
    json out = json::array();
    for (const circuit_edge& edge : p.report.circuit.edges)
        out.push_back(json_of(described_row(edge), p.report.spikes.unit_names()));
    return out;
}

json pairs_of(const episode_view& p) {
    json out = json::array();
    for (const pair_test& pair : p.report.pairs->pairs) {
        json one{{"from", p.name(pair.from)},
                 {"to", p.name(pair.to)},
                 {"sign", to_string(pair.sign)},
                 {"slow", pair.slow},
                 {"delay_ms", ms(pair.delay)}};
        one.update(json_of(pair));
        out.push_back(std::move(one));
    }
    return out;
}

json untested_of(const search_part& search) {
    json out = json::array();
    for (const auto& [found, test] : search.untested) {
        out.push_back({{"units", names_json(search.unit_names, found.what.units)},
                       {"delays_ms", ms(found.what.delays)},
                       {"missing", missing_units_of(found.what, search)},
                       {"search", search_test(found.count, test)}});
    }
    return out;
}

}  // namespace

json search_json(const episode_table& table) {
    return {{"strategy", to_string(table.ran_on)},
            {"pair_method", to_string(table.pairs_by)},
            {"compaction", to_string(table.compacted_by)},
            {"ties", to_string(table.ties)},
            {"threshold", table.threshold},
            {"estimated_bytes", table.estimated_bytes},
            {"merge_misses", table.merge_misses},
            {"levels", list_of(table.levels)}};
}

std::string run_json(const episode_view& p) {
    return text_of(run_of(p));
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string to_json(const episode_report& report) {
    const report::episode_view p(report);
    report::json units = report::json::array();
    for (std::size_t u = 0; u < report.spikes.unit_count(); ++u)
        units.push_back({{"name", report.spikes.unit_names()[u]},
                         {"count", p.unit_counts[u]},
                         {"rate_hz", p.rate_hz(u)}});
    report::json out{
        {"run", report::run_of(p)},
        {"units", units},
        {"episodes", report::episodes_of(p)},
        {"circuit", {{"edges", report::edges_of(p)}, {"chains", report::chains_of(p)}}}};
    if (report.pairs) out["pairs"] = report::pairs_of(p);
    if (report.searched && report.searched->confirmed_elsewhere)
        out["untested"] = report::untested_of(*report.searched);
    return report::text_of(out);
}

}  // namespace spikeweave
