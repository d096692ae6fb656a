#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "report/document.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/report/episodes/windows.hpp"

/// The tables of a result of episodes in windows, and the page that is made of them.
namespace spikeweave::report {

/// Returns `run.json`.
json run_of_windows(const windowed_episode_report& report);
/// The tables of the result, which has to outlive them.
result_table windows_table(const windowed_episode_report& report);
/// The episodes of all windows; their file writes them as `read_episodes` reads them.
result_table window_episodes_table(const windowed_episode_report& report);
result_table window_circuits_table(const windowed_episode_report& report);
/// Passes on `window_episodes.tsv` in pieces.
void write_window_episodes(const windowed_episode_report& report,
                           const std::function<void(std::string_view)>& write,
                           const execution& run);
document document_of(const windowed_episode_report& report);

/// The data of the page, as docs/formats.md describes them.
/// @param alpha  the level at which rates differ between windows
/// @throws cancelled
std::string window_page_text(std::span<const tested_window> windows, const spike_sequence& spikes,
                             json run, double alpha, const execution& stop);
/// The same of the document of a result.
/// @throws io_error if it is damaged; cancelled.
std::string window_page_text(const json& document, double alpha, const execution& stop);

}  // namespace spikeweave::report

/// The course of a recording in windows: the stability of its circuit, and its changes.
namespace spikeweave::report {

/// The result must have changes.
result_table change_points_table(const windowed_episode_report& report);
/// The same of all units and findings together, for `run.json`.
json change_points_json(const windowed_episode_report& report);
/// As sentences, for a terminal.
std::string stability_text(const windowed_episode_report& report);
std::string changes_text(const windowed_episode_report& report);

}  // namespace spikeweave::report
