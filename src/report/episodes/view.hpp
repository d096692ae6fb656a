#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/assess/episodes/correlogram.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/report/episodes.hpp"

namespace spikeweave::report {

/// A report with the data that all its parts share, computed once.
struct episode_view {
    /// @throws invalid_argument if the parts do not belong together.
    explicit episode_view(const episode_report& what);

    const episode_report& report;
    /// Tests against surrogates if there are any, else under independence; the circuit was found
    /// with them.
    std::vector<episode_test> judged;
    /// Indices into the table in the order in which episodes are listed: longest first, then by q,
    /// p and falling count. The number of an episode in every file is its position here, from 1.
    std::vector<std::size_t> order;
    std::vector<std::size_t> number;  ///< number of each episode of the table
    std::vector<bool> maximal;
    std::vector<std::uint64_t> unit_counts;
    unit_places places;

    bool significant(std::size_t episode) const;
    const std::string& name(unit_id unit) const { return report.spikes.name(unit); }
    double rate_hz(std::size_t unit) const;
    /// Indices of direct edges that are in no chain, strongest first.
    std::vector<std::size_t> loose_edges() const;
};

/// The first columns of `episodes.tsv`.
row counted_row(std::uint64_t number, const counted_episode& found);
/// The units of an episode, as `episodes.tsv` has them.
std::string units_text(std::span<const std::string> names, const episode& what);
/// Returns a chain as people read it: "n0 →4-6ms→ n1".
std::string chain_text(std::span<const std::string> names, const episode& what);
/// The tables of the result. What they are of has to outlive them. Those with a `use` have more
/// columns in documents.
result_table episodes_table(const episode_view& p, table_use use = table_use::file_only);
result_table circuit_table(const episode_view& p);
/// The pairs of units with a small p; pairs must have been tested.
result_table pairs_table(const episode_view& p);
/// Findings of the search that cannot be tested, because the other recording lacks units.
result_table untested_table(const episode_search& searched, table_use use = table_use::file_only);
/// The cross-correlograms of the edges, which the next two tables are of.
std::vector<edge_correlogram> correlograms_of(const episode_view& p, const execution& run);
/// The counts that the tests of the edges expect at each lag; pairs must have been tested.
result_table expected_lags_table(std::span<const edge_correlogram> of_edges);
result_table lags_table(const episode_view& p, std::span<const edge_correlogram> of_edges);
std::string verdict_of(const episode_view& p);
std::string circuit_graphml(const episode_view& p, const execution& run = {});
std::string circuit_svg(const episode_view& p);
/// The content of `run.json`.
json run_of(const episode_view& p);
document document_of(const episode_view& p, std::span<const edge_correlogram> of_edges);
/// Passes on `occurrences.tsv` in pieces.
void write_occurrences(const episode_view& p, const std::function<void(std::string_view)>& write,
                       const execution& run);

/// Returns what `run.json` says of the search for a table.
json search_json(const episode_table& table);

}  // namespace spikeweave::report
