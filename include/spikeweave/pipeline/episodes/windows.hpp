#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/episodes/circuit_stability.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes/windows.hpp"
#include "spikeweave/pipeline/episodes.hpp"
#include "spikeweave/pipeline/episodes/changes.hpp"

/// The analysis of serial episodes in windows of a recording, one after another. The command
/// `spikeweave windows` and Python's `spikeweave.windows` make the same call.
namespace spikeweave {

/// All options of the analysis of each window, and which windows there are.
struct windowed_episode_options {
    /// `epochs`, `trial_length` and `hold_out` do not apply.
    episode_options search{};
    duration window{0};  ///< has to be given
    /// From the beginning of one window to that of the next. 0: as long as the window.
    duration hop{0};
    /// Whether to search for the times at which the circuit changes.
    bool change_points = false;
    change_point_options changes{};
};

SPIKEWEAVE_API option_list describe(windowed_episode_options& options);

/// The similarity of a window's circuit to that of the last window that shares no time with it.
struct window_stability {
    std::size_t since = 0;  ///< the place of that window in the result
    circuit_stability both{};
};

/// A window with its frequent episodes, their tests, and the circuit that follows from them.
struct tested_window {
    window_bounds bounds{};
    std::size_t spikes = 0;
    episode_table table{};
    /// One element for each episode of the table; those of surrogates if there are any.
    std::vector<episode_test> tests{};
    spikeweave::circuit circuit{};
    std::optional<window_stability> stability{};
};

struct windowed_episode_result {
    /// The spikes that were analysed, if the options choose a part of the recording.
    std::optional<spike_sequence> chosen{};
    std::vector<tested_window> windows{};
    /// If the options ask for it: the changes over the windows that share no time
    /// (`windows_apart`).
    std::optional<circuit_changes> changes{};
    windowed_episode_options options{};
    std::vector<std::string> warnings{};
    double seconds = 0;
};

/// Does in each window [begin, end) what `find_episodes` does in a recording that has the spikes of
/// this window and its length. Windows begin at the multiples of the hop, the first one last before
/// the first spike or with it; those are left out that end after the recording, or begin before the
/// part of it that the options choose.
/// @throws invalid_argument if an option is out of range or does not apply, or there is no window;
/// device_error; cancelled.
SPIKEWEAVE_API windowed_episode_result
find_episodes_in_windows(const spike_sequence& spikes, const windowed_episode_options& options,
                         const execution& run = {});

/// The mean index of stability of the windows that have one.
SPIKEWEAVE_API std::optional<double> mean_stability(std::span<const tested_window> windows);

/// Sets the levels of a table, without their times: the candidates of each size follow from the
/// frequent episodes of the size before. Tables that were not mined by `mine_episodes` have none,
/// but tests need them.
SPIKEWEAVE_API void restore_levels(episode_table& table, std::size_t units,
                                   const episode_mining_options& options);

}  // namespace spikeweave
