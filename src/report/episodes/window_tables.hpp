#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/report/episodes/windows.hpp"

/// The tables of a result of episodes in windows, and the page that is made of them.
namespace spikeweave::report {

/// Returns `run.json`.
json run_of_windows(const windowed_episode_report& report);
std::string windows_tsv(const windowed_episode_report& report);
/// Passes on `window_episodes.tsv` in pieces.
void write_window_episodes(const windowed_episode_report& report,
                           const std::function<void(std::string_view)>& write,
                           const execution& run);
std::string window_circuits_tsv(const windowed_episode_report& report);

/// The data of the page that shows such a folder, as docs/formats.md describes them.
/// @param alpha  the level at which rates differ between windows
/// @throws io_error if a table is missing or damaged; cancelled.
std::string window_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                             double alpha, const execution& run);

}  // namespace spikeweave::report
