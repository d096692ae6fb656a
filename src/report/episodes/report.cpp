#include <algorithm>
#include <string_view>
#include <utility>

#include "io/atomic_file.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/view.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/unit_places.hpp"
#include "spikeweave/report/episodes.hpp"

namespace spikeweave {

episode_report report_of(spike_sequence spikes, episode_result result, const execution& run) {
    episode_report report{.spikes = std::move(result.chosen ? *result.chosen : spikes),
                          .table = std::move(result.table),
                          .assessed = std::move(result.assessed),
                          .surrogates = std::move(result.surrogates),
                          .searched = std::move(result.searched),
                          .circuit = std::move(result.circuit),
                          .pairs = std::move(result.pairs),
                          .significance = result.options.significance,
                          .surrogate = result.options.surrogates,
                          .circuit_rules = {result.options.significance.alpha,
                                            result.options.significance.jitter_window}};
    report::record_result(report.run, result, describe(result.options),
                          result.options.surrogates.seed, run, result.options.run.threads,
                          report.table.ran_on_devices);
    return report;
}

void write_report(const std::filesystem::path& folder, const episode_report& report, bool overwrite,
                  const execution& run) {
    const report::episode_view p(report);
    const std::vector<edge_correlogram> lags = report::correlograms_of(p, run);
    io::result_folder out(folder, overwrite, report::files_of(result_kind::episodes));
    const auto write_file = [&](const char* name, const auto& write_into) {
        io::atomic_file file(out.file(name));
        write_into([&](std::string_view piece) { file.write(piece); });
        file.commit();
    };
    write_file("lags.tsv", [&](const auto& write) {
        report::write_lines(report::lags_table(p, lags), report.spikes.unit_names(), write, run);
    });
    out.write("circuit.graphml", report::circuit_graphml(p, run));
    out.write("circuit.svg", report::circuit_svg(p));
    if (report.with_occurrences)
        write_file("occurrences.tsv",
                   [&](const auto& write) { report::write_occurrences(p, write, run); });
    report::write_result(out, report::document_of(p, lags), report.with_page, run);
    out.commit(run.stop);
}

}  // namespace spikeweave

namespace spikeweave::report {
namespace {

json chains_of(const episode_view& p) {
    json chains = json::array();
    for (const std::size_t i : p.report.circuit.chains) chains.push_back(p.number[i]);
    return chains;
}

json circuit_of(const episode_view& p) {
    json out{{"chains", chains_of(p)},
             {"units_of_both_signs",
              names_json(p.report.spikes.unit_names(), units_of_both_signs(p.report.circuit))}};
    if (const auto& pairs = p.report.pairs)
        out["pairs"] = {
            {"tested", pairs->tested},
            {"possible", pairs->possible},
            {"listed_below", pairs->listed_below},
            {"untested_units", names_json(p.report.spikes.unit_names(), pairs->untested_units)}};
    return out;
}

// The share of the findings of a search that other spikes confirm.
json replication_of(const episode_report& report) {
    const episode_search& search = *report.searched;
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

json run_of(const episode_view& p) {
    const episode_report& report = p.report;
    json out = run_json(report.run, verdict_of(p), contents_of(report.spikes));
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

document document_of(const episode_view& p, std::span<const edge_correlogram> of_edges) {
    const spike_sequence& spikes = p.report.spikes;
    json listed = page_spikes(spikes);
    if (auto labels = labels_of(spikes.epochs(), p.report.run.epoch_labels); !labels.empty())
        listed["epoch_labels"] = std::move(labels);
    document out{.kind = "episodes",
                 .run = run_of(p),
                 .unit_names = spikes.unit_names(),
                 .values = {{"places", columns_of(p.places, spikes.unit_names())},
                            {"spikes", std::move(listed)}},
                 .tables = {circuit_table(p)}};
    if (p.report.pairs) {
        out.tables.push_back(pairs_table(p));
        out.tables.push_back(expected_lags_table(of_edges));
    }
    const bool has_untested = p.report.searched && p.report.searched->confirmed_elsewhere;
    for (const table_use use : {table_use::file_only, table_use::document_only}) {
        out.tables.push_back(episodes_table(p, use));
        if (has_untested) out.tables.push_back(untested_table(*p.report.searched, use));
    }
    return out;
}

}  // namespace spikeweave::report

namespace spikeweave {

std::string document_of(const episode_report& report, const execution& run) {
    const report::episode_view p(report);
    const std::vector<edge_correlogram> lags = report::correlograms_of(p, run);
    return report::whole_text(report::document_of(p, lags), run);
}

std::string to_json(const episode_report& report) {
    const report::episode_view p(report);
    report::json units = report::json::array();
    for (std::size_t u = 0; u < report.spikes.unit_count(); ++u)
        units.push_back({{"name", report.spikes.unit_names()[u]},
                         {"count", p.unit_counts[u]},
                         {"rate_hz", p.rate_hz(u)}});
    const std::vector<std::string>& names = report.spikes.unit_names();
    report::json out{{"run", report::run_of(p)},
                     {"units", units},
                     {"episodes", report::rows_of(report::episodes_table(p), names)},
                     {"circuit",
                      {{"edges", report::rows_of(report::circuit_table(p), names)},
                       {"chains", report::chains_of(p)}}}};
    if (report.pairs) out["pairs"] = report::rows_of(report::pairs_table(p), names);
    if (report.searched && report.searched->confirmed_elsewhere)
        out["untested"] = report::rows_of(report::untested_table(*report.searched));
    return report::text_of(out);
}

}  // namespace spikeweave
