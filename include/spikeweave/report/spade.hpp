#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/spade/stability.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/report/page.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The complete result of `spikeweave spade`, ready to be written. Move data into it to avoid
/// copies.
struct pattern_report {
    pattern_axes axes{};
    /// The patterns that remain after all steps, with occurrences. For a streamed result: the
    /// patterns to be shown.
    pattern_table table{};
    /// The number of each pattern in `patterns.tsv` if the result was streamed, ascending; else
    /// empty.
    std::vector<std::uint64_t> numbers{};
    std::uint64_t patterns = 0;  ///< number of patterns that remain after all steps
    spectrum_kind spectrum = spectrum_kind::size_count;
    /// All signatures found; ignored if they were tested.
    std::vector<signature_count> signatures{};
    std::optional<pattern_test_result> assessment{};
    signature_test_options testing{};
    surrogate_options surrogate{};
    /// Empty, or one element per pattern of the table.
    std::vector<spikeweave::stability> stabilities{};
    std::vector<funnel_step> funnel{};
    /// The patterns in other spikes, if a part was held out or another recording confirms.
    std::optional<spade_replication> replication{};
    input_record replication_input{};  ///< the file of that recording
    pattern_mining_options mining{};
    spade_strategy ran_on = spade_strategy::automatic;
    pattern_input input{};
    /// The spikes as binned, for the pictures; may be empty.
    spike_sequence spikes{};
    bool with_nwb = false;
    /// Whether the folder gets `report.html`, the page of report/page.hpp, if there are at most ten
    /// million spikes.
    bool with_page = true;
    run_record run{};
};

/// The report of an analysis; its record lacks the input and the command.
/// @param spikes  those that were binned
SPIKEWEAVE_API pattern_report report_of(spike_sequence spikes, spade_result result,
                                        const execution& run = {});

/// The report of a search whose patterns were not held in memory, for `pattern_stream::commit`.
SPIKEWEAVE_API pattern_report report_of(spike_sequence spikes, spade_stream_result result,
                                        const execution& run = {});

/// The result in a sentence: the patterns with their sizes, and how they were tested. A second one
/// has the number of warnings, if any.
/// @throws invalid_argument if the parts are inconsistent
SPIKEWEAVE_API std::string verdict_of(const pattern_report& report);

/// Writes `patterns.tsv`, `signatures.tsv`, `funnel.tsv` and `run.json`; with tests also
/// `spectrum.tsv`; on request `report.html` and `patterns.nwb`.
/// docs/results.md describes their columns. The files are identical byte for byte for the same
/// input, parameters and seed; only `run.json` holds times, memory, threads and ranks, which
/// `report.html` shows.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; invalid_argument if the parts are inconsistent; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const pattern_report& report,
                                 bool overwrite = false, const execution& run = {});

/// The same for patterns too numerous to be collected: `patterns.tsv` grows with every block.
class SPIKEWEAVE_API pattern_stream {
public:
    /// @throws io_error as `write_report`.
    pattern_stream(const std::filesystem::path& folder, const pattern_axes& axes,
                   bool with_occurrences, bool overwrite = false);
    ~pattern_stream();
    pattern_stream(const pattern_stream&) = delete;
    pattern_stream& operator=(const pattern_stream&) = delete;

    /// Adds a block, in the order in which `mine_patterns` delivers them. @throws io_error
    void take(const pattern_table& block);
    /// Adds all other files and gives the folder its final name.
    void commit(const pattern_report& report, const execution& run = {});

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const pattern_report& report, const execution& run = {});

/// The result as one JSON document, for `--json`; for a streamed result, the patterns to be shown.
SPIKEWEAVE_API std::string to_json(const pattern_report& report);

/// An estimate of the memory that `to_json` takes, because the document is complete before it is
/// returned.
SPIKEWEAVE_API std::uint64_t json_bytes(const pattern_report& report);

/// The settings with which the patterns were found, as text for a terminal: thresholds, strategy
/// and surrogates. Names of options stand between backquotes.
/// @param asked  the options before they were resolved
SPIKEWEAVE_API std::string summarize_search(const pattern_report& report,
                                            const spade_options& asked);

/// The result as a page of text for a terminal: the first patterns, what was tested, what each step
/// left.
SPIKEWEAVE_API std::string summarize(const pattern_report& report, bool colour = false);

}  // namespace spikeweave
