#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/pipeline/replay.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The complete result of `spikeweave replay`, ready to be written.
struct replay_report {
    spike_sequence spikes{};
    std::vector<episode> chains{};
    std::vector<time_span> events{};
    replay_scores scores{};
    double alpha = 0.05;
    /// Whether the folder gets `report.html`, the page of report/page.hpp, if there are at most ten
    /// million spikes.
    bool with_page = true;
    run_record run{};
};

/// The report of an analysis; its record lacks the input and the command.
SPIKEWEAVE_API replay_report report_of(spike_sequence spikes, std::vector<episode> chains,
                                       replay_result result, const execution& run = {});

/// The result in a sentence: the chains that are replayed, in which direction, and the events. A
/// second one has the number of warnings, if any.
SPIKEWEAVE_API std::string verdict_of(const replay_report& report);

/// Writes `replay.tsv`, `events.tsv`, `run.json` and, unless it is not wanted, `report.html`;
/// docs/results.md describes their columns. The tables are identical byte for byte for the same
/// spikes, chains, parameters and seed.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const replay_report& report,
                                 bool overwrite = false, const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const replay_report& report, const execution& run = {});

/// What the files hold, as one JSON document: {"run", "chains", "tests", "events"}. Chains and
/// events are numbered from 1.
SPIKEWEAVE_API std::string to_json(const replay_report& report);

/// The tests of the chains as text for a terminal, those with the smallest q first.
SPIKEWEAVE_API std::string summarize(const replay_report& report);

}  // namespace spikeweave
