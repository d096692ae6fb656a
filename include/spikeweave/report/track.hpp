#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/sort/tracking.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// A session with the spikes of its units, which are in the same order.
struct session_spikes {
    sorted_session session{};
    spike_sequence spikes{};
    input_record input{};  ///< the file of waveforms
};

/// Reads a folder that `spikeweave sort` wrote for a recording.
/// @param labels  those of the units to use, as of `choose_by_label`
/// @throws io_error if it is none, or has no waveforms; invalid_argument for labels.
SPIKEWEAVE_API session_spikes read_session(const std::filesystem::path& folder,
                                           const std::vector<std::string>& labels = {},
                                           const execution& run = {});

/// The complete result of `spikeweave track`, ready to be written.
struct tracking_report {
    std::vector<session_spikes> sessions{};
    tracking found{};
    /// Whether the folder gets `report.html`, the page of report/page.hpp.
    bool with_page = true;
    run_record run{};
};

/// Tracks units; its record lacks the inputs and the command. Warns of sessions whose units are not
/// found again in the other half of the same session, and of sessions without a common unit.
/// @throws as `track_units`.
SPIKEWEAVE_API tracking_report track_sessions(std::vector<session_spikes> sessions,
                                              const tracking_options& options = {},
                                              const execution& run = {});

/// The result in a sentence: the neurons, and how many of them are in several sessions.
SPIKEWEAVE_API std::string verdict_of(const tracking_report& report);

/// Writes `neurons.tsv`, `matches.tsv`, `relations.tsv`, `sessions.tsv`, `run.json`, `result.json`,
/// for the K-th session `spikes/K.npz`, in which units have the names of their neurons, and, unless
/// it is not wanted, `report.html`; docs/results.md describes their columns.
///
/// The folder is written under a temporary name and renamed, so it is complete or absent.
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; cancelled.
SPIKEWEAVE_API void write_report(const std::filesystem::path& folder, const tracking_report& report,
                                 bool overwrite = false, const execution& run = {});

/// The document of the result: what `result.json` holds (docs/formats.md). `page_of_results` makes
/// its page. @throws cancelled
SPIKEWEAVE_API std::string document_of(const tracking_report& report, const execution& run = {});

/// The content of the files as one JSON document: {"run", "neurons", "matches", "relations",
/// "sessions"}.
SPIKEWEAVE_API std::string to_json(const tracking_report& report);

/// Sessions and neurons as text for a terminal.
SPIKEWEAVE_API std::string summarize(const tracking_report& report);

}  // namespace spikeweave
