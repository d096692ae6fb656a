#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
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

/// The spikes of these epochs, in the times of the recording, as a sequence that knows its epochs.
/// @throws invalid_argument as `concatenate_epochs`.
SPIKEWEAVE_API spike_sequence within_epochs(const spike_sequence& spikes,
                                            std::span<const time_span> epochs);
/// Assigns spikes what is known of the sequence that they were taken from: its epochs, if it has
/// any, and its doubtful pairs.
/// @throws invalid_argument as `within_epochs`.
SPIKEWEAVE_API spike_sequence taken_from(const spike_sequence& from, spike_sequence spikes);
/// The spikes of a span, both ends included, which becomes the recorded one.
SPIKEWEAVE_API spike_sequence within_span(const spike_sequence& spikes, const time_span& span);

/// Spikes whose epochs are so far apart that nothing reaches from one into the next. This is how
/// episodes are counted and tested: within an epoch times differ as in the recording.
class SPIKEWEAVE_API separated_epochs {
public:
    /// @param spikes  must outlive this object, if it has no epochs: nothing is copied then
    /// @param reach   the longest step that could lead from one epoch into the next
    /// @throws invalid_argument as `concatenate_epochs`.
    separated_epochs(const spike_sequence& spikes, duration reach);

    const spike_sequence& spikes() const { return given_ != nullptr ? *given_ : joined_.spikes; }
    /// Converts a time of `spikes` to the recording's time.
    duration original(duration time) const {
        return given_ != nullptr ? time : joined_.original(time);
    }

private:
    const spike_sequence* given_;
    concatenated_epochs joined_{};
};

/// The result of `epochs_around`.
struct epochs_of_events {
    std::vector<time_span> epochs{};
    /// Epochs that end before `to`, because the next one begins.
    std::size_t shortened = 0;
    /// Events at the time of an earlier one, which have no separate epoch.
    std::size_t repeated = 0;
};

/// An epoch around each event, from `from` after it (before it if negative) to `to` after it.
/// Where it would reach into the epoch of the next event, it ends as that begins.
/// @throws invalid_argument if `to` is not after `from`, or events are not in order.
SPIKEWEAVE_API epochs_of_events epochs_around(std::span<const std::int64_t> events_us,
                                              duration from, duration to);

/// Which epochs were shortened, as full sentences; none if each is as long as requested.
SPIKEWEAVE_API std::vector<std::string> warnings_of(const epochs_of_events& made);

/// Reads epochs in seconds, one per line, separated by tabs, semicolons, commas or blanks; also
/// gzip. A header may name the columns start_time and stop_time, or begin and end; else the first
/// two are used; lines
/// with '#' are comments. The epochs of an NWB file are its trials.
/// @param warnings  receives the omissions, as full sentences
/// @throws io_error with the line, what was found and expected; also if epochs are empty or out of
/// order, or there are none.
SPIKEWEAVE_API std::vector<time_span> read_epochs(const std::filesystem::path& path,
                                                  const execution& run = {},
                                                  std::vector<std::string>* warnings = nullptr);

/// Reads a table of intervals of an NWB file, such as "trials", in the order of their begins.
/// Intervals whose begin or end is NaN, such as a trial that was open as the recording ended, are
/// left out.
/// @param warnings  receives the omissions, as full sentences
/// @throws io_error with the table, what was found and expected; also if it is missing or empty, or
/// this build has no NWB.
SPIKEWEAVE_API std::vector<time_span> read_nwb_intervals(
    const std::filesystem::path& path, const std::string& table, const execution& run = {},
    std::vector<std::string>* warnings = nullptr);

/// Reads the begins of such intervals in order, in microseconds, whatever their ends are.
/// @throws io_error  as `read_nwb_intervals`
SPIKEWEAVE_API std::vector<std::int64_t> read_nwb_begins(
    const std::filesystem::path& path, const std::string& table, const execution& run = {},
    std::vector<std::string>* warnings = nullptr);

}  // namespace spikeweave
