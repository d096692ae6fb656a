#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Epochs of a recording (trials, states) joined one after another, so that no pattern spans a gap
/// between them.
struct SPIKEWEAVE_API concatenated_epochs {
    /// The spikes on a new time axis, from 0 to the end of the last epoch, with the same units.
    spike_sequence spikes{};
    std::vector<time_span> spans{};    ///< of the epochs on that axis
    std::vector<time_span> sources{};  ///< of the epochs in the recording
    std::size_t outside = 0;           ///< spikes in no epoch

    /// The epoch that contains a time on the new axis; between two epochs, the nearer one.
    /// @throws invalid_argument if there are no epochs.
    std::size_t epoch_at(duration time) const;
    /// Converts a time on the new axis to the recording's time. @throws as `epoch_at`.
    duration original(duration time) const;
};

/// Cuts out epochs, half-open [begin, end), and inserts `separation` between successive ones. Twice
/// the window of SPADE keeps patterns and surrogates of neighbours apart (Stella et al. 2022,
/// doi:10.1523/ENEURO.0505-21.2022).
/// @throws invalid_argument if there are no epochs, the separation is negative, or epochs are
/// empty, overlap, are out of order or too long in total; the message numbers
/// them from 1.
SPIKEWEAVE_API concatenated_epochs concatenate_epochs(const spike_sequence& spikes,
                                                      std::span<const time_span> epochs,
                                                      duration separation);

/// Reads epochs in seconds, one per line, separated by tabs, semicolons, commas or blanks; also
/// gzip. A header may name the columns start_time and stop_time, or begin and end; else the first
/// two are used; lines
/// with '#' are comments.
/// @throws io_error with the line, what was found and expected; also if epochs are empty or out of
/// order, or there are none.
SPIKEWEAVE_API std::vector<time_span> read_epochs(const std::filesystem::path& path,
                                                  const execution& run = {});

}  // namespace spikeweave
