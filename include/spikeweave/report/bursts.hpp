#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/bursts.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The complete result of `spikeweave bursts`, ready to be written.
struct burst_report {
    spike_sequence spikes{};
    mined_bursts found{};
    /// Whether the folder gets `report.html`, the page of report/page.hpp, if there are at most ten
    /// million spikes.
    bool with_page = true;
    run_record run{};
};

/// The report of an analysis; its record lacks the input and the command.
SPIKEWEAVE_API burst_report report_of(spike_sequence spikes, burst_result result,
                                      const execution& run = {});

/// The result in a sentence: the bursts of units and of the network. A second one has the number of
/// warnings, if any.
SPIKEWEAVE_API std::string verdict_of(const burst_report& report);

/// Writes `summary.tsv`, `units.tsv`, `network_bursts.tsv`, `bursts.tsv`, `run.json` and, unless it
/// is not wanted, `report.html`; docs/results.md describes their columns. The tables are identical
/// byte for byte for the same spikes and parameters.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const burst_report& report,
                                 bool overwrite = false, const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const burst_report& report, const execution& run = {});

/// The content of the files as one JSON document: {"run", "summary", "units", "network_bursts",
/// "bursts"}.
SPIKEWEAVE_API std::string to_json(const burst_report& report);

/// The units as text for a terminal, those with most bursts first.
SPIKEWEAVE_API std::string summarize(const burst_report& report);

}  // namespace spikeweave
