#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Epochs of a recording (trials, states) one after another, so that what is looked for spans none
/// of the gaps that were cut.
struct concatenated_epochs {
    /// On a time axis of its own, from 0 to the end of the last epoch; the same units.
    spike_sequence spikes{};
    std::vector<time_span> spans{};    ///< of the epochs on that axis
    std::vector<time_span> sources{};  ///< of the epochs in the recording
    std::size_t outside = 0;           ///< spikes in no epoch

    /// The epoch that holds a time on the new axis; between two, the nearer.
    /// @throws invalid_argument if there are no epochs.
    std::size_t epoch_at(duration time) const;
    /// That time in the recording, by the clock of its epoch. @throws as `epoch_at`.
    duration original(duration time) const;
};

/// Cuts out epochs, half-open [begin, end), and puts `separation` between each two. Twice the
/// window of SPADE keeps patterns and surrogates of neighbours apart (Stella et al. 2022,
/// doi:10.1523/ENEURO.0505-21.2022).
/// @throws invalid_argument for no epochs, a negative separation, and epochs that are empty, begin
/// before the one before them ends, or come to more time than can be held; the message numbers
/// them from 1.
concatenated_epochs concatenate_epochs(const spike_sequence& spikes,
                                       std::span<const time_span> epochs, duration separation);

/// Reads epochs in seconds, one a line, parted by tabs, semicolons, commas or blanks; also gzip.
/// Columns named start_time and stop_time or begin and end by a header, else the first two; lines
/// with '#' are comments.
/// @throws io_error with the line, what was found and expected; also for epochs that are empty or
/// not in order, and for none.
std::vector<time_span> read_epochs(const std::filesystem::path& path, const execution& run = {});

}  // namespace spikeweave
