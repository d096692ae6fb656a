#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/assess/episodes/pair_tests.hpp"
#include "spikeweave/assess/episodes/significance.hpp"
#include "spikeweave/assess/episodes/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The complete result of `spikeweave episodes`, ready to be written. Move data into it to avoid
/// copies.
struct episode_report {
    spike_sequence spikes;
    episode_table table{};
    /// One element per episode of the table.
    std::vector<episode_test> assessed{};
    /// Empty, or one element per episode of the table.
    std::vector<surrogate_test> surrogates{};
    /// The results of the search elsewhere, if these spikes were held out or are those of the
    /// confirming recording.
    std::optional<episode_search> searched{};
    /// The file that was searched, if another one confirms; the input of the run is that one.
    input_record searched_input{};
    spikeweave::circuit circuit{};
    /// The tests of all pairs, if the circuit was built from them.
    std::optional<pair_tests> pairs{};
    significance_options significance{};
    /// The options behind `surrogates`; ignored if that is empty.
    surrogate_options surrogate{};
    circuit_options circuit_rules{};
    /// Whether the folder gets `occurrences.tsv`: the time of every spike of every occurrence of
    /// the circuit's chains and direct edges.
    bool with_occurrences = false;
    /// Whether the folder gets `report.html`, the page of report/page.hpp, if there are at most ten
    /// million spikes.
    bool with_page = true;
    run_record run{};
};

/// The report of an analysis; its record lacks the input and the command.
SPIKEWEAVE_API episode_report report_of(spike_sequence spikes, episode_result result,
                                        const execution& run = {});

/// The result in a sentence: the connections by sign, the chains, and how many pairs of units, or
/// episodes, were tested at which error rate. A second one has the number of warnings, if any.
/// @throws invalid_argument if the parts are inconsistent
SPIKEWEAVE_API std::string verdict_of(const episode_report& report);

/// The kind of the edge that each pair with a q below `alpha` has become; nothing for other pairs.
/// @return one element for each of `pairs.pairs`
SPIKEWEAVE_API std::vector<std::optional<edge_kind>> kinds_of_pairs(const pair_tests& pairs,
                                                                    const circuit& found,
                                                                    double alpha);

/// Writes `episodes.tsv`, `circuit.tsv`, `pairs.tsv`, `lags.tsv`, `circuit.graphml`, `circuit.svg`,
/// `run.json` and, on request, `report.html` and `occurrences.tsv`, and `untested.tsv` if another
/// recording confirms; docs/results.md describes their columns. The files
/// are identical byte for byte for the same spikes, parameters and seed; only `run.json` holds
/// times, memory and threads, which `report.html` shows.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent.
/// @param overwrite  whether a folder of that name may be replaced; it is kept until the new one is
/// complete
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; invalid_argument if the parts are inconsistent; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const episode_report& report,
                                 bool overwrite = false, const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const episode_report& report, const execution& run = {});

/// Everything except the occurrences as one JSON document, for `--json`.
SPIKEWEAVE_API std::string to_json(const episode_report& report);

/// An estimate of the memory that `to_json` takes, because the document is complete before it is
/// returned.
SPIKEWEAVE_API std::uint64_t json_bytes(const episode_report& report);

/// The settings with which the episodes were counted, as text for a terminal: delays, threshold,
/// ties and strategy. Names of options stand between backquotes.
/// @param delays  those of the search; empty if the episodes were given
SPIKEWEAVE_API std::string summarize_search(const episode_report& report,
                                            std::span<const delay_interval> delays);
/// Each episode with its count and test, one per line.
SPIKEWEAVE_API std::string summarize_counts(const episode_report& report);

/// Lists the written files, and suggests how to make a large table smaller.
/// @param folder  where it was written
SPIKEWEAVE_API std::string summarize_files(const episode_report& report,
                                           const std::filesystem::path& folder);

/// The result as a page of text for a terminal: the chains, the circuit's strongest edges and the
/// levels of the search.
SPIKEWEAVE_API std::string summarize(const episode_report& report, bool colour = false);

}  // namespace spikeweave
