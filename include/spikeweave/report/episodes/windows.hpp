#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/episodes/windows.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The complete result of `spikeweave windows`, ready to be written.
struct windowed_episode_report {
    spike_sequence spikes;
    windowed_episode_result result{};
    /// Whether the folder gets `report.html`, as that of `episode_report`.
    bool with_page = true;
    run_record run{};
};

/// The report of an analysis; its record lacks the input and the command.
SPIKEWEAVE_API windowed_episode_report report_of(spike_sequence spikes,
                                                 windowed_episode_result result,
                                                 const execution& run = {});

/// The result in a sentence: the number of connections and chains of the windows, the stability of
/// the circuit, and where it changes if that was searched for. A second one has the number of
/// warnings, if any.
SPIKEWEAVE_API std::string verdict_of(const windowed_episode_report& report);

/// Writes `windows.tsv`, `window_episodes.tsv`, `window_circuits.tsv`, `run.json` and, on request,
/// `report.html`; docs/results.md describes their columns. The folder is complete or absent, and is
/// replaced as by the other `write_report`.
/// @throws io_error, cancelled; likewise.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder,
                                 const windowed_episode_report& report, bool overwrite = false,
                                 const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const windowed_episode_report& report,
                                       const execution& run = {});

/// The result as one JSON document: {"run", "windows", "changes"}; a window has its "episodes", the
/// "edges" of its circuit, and its "stability" since the window before that shares no time with it.
/// "changes" are present if the analysis searched for them.
SPIKEWEAVE_API std::string to_json(const windowed_episode_report& report);

/// The sentence of `verdict_of` and a line for each window, for a terminal.
SPIKEWEAVE_API std::string summarize(const windowed_episode_report& report);

}  // namespace spikeweave
