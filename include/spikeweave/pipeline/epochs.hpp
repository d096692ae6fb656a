#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The part of a recording that is analysed.
namespace spikeweave {

/// Options that choose a part of a recording.
struct epoch_options {
    /// Spikes before `t_start` or after `t_stop` are left out. If not set, nothing is left out.
    std::optional<duration> t_start{};
    std::optional<duration> t_stop{};
    /// If given, only these epochs are analysed. Cannot be combined with the other options.
    std::vector<time_span> epochs{};
    /// If set, the part from `t_start` to `t_stop` consists of trials of this length, from its
    /// beginning; the last one may be cut off. Each is an epoch.
    std::optional<duration> trial_length{};
    duration trial_separation{};  ///< gap between the end of a trial and the next one

    friend bool operator==(const epoch_options&, const epoch_options&) = default;
};

SPIKEWEAVE_API option_list describe(epoch_options& options);

/// Adds the options `t_start`, `t_stop` and `epochs`, which SPADE has as well.
/// @param epochs_help  the use of the epochs
SPIKEWEAVE_API void describe_span(option_list& list, std::optional<duration>& t_start,
                                  std::optional<duration>& t_stop, std::vector<time_span>& epochs,
                                  std::string epochs_help);

/// The result of `choose_time`.
struct chosen_time {
    /// The spikes of the part, which know its epochs; nothing if the whole recording is chosen.
    std::optional<spike_sequence> spikes{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences

    /// The part of the recording, or all of it.
    const spike_sequence& of(const spike_sequence& recording) const {
        return spikes ? *spikes : recording;
    }
};

/// Returns the part of a recording that the options choose. If an epoch is partly outside the
/// recorded span, only its recorded part is used, with a warning.
/// @throws invalid_argument if an option is out of range, epochs are not as `concatenate_epochs`
/// needs them, or nothing was recorded in the part.
SPIKEWEAVE_API chosen_time choose_time(const spike_sequence& spikes, const epoch_options& options);

/// "0ms:4s,5s:10s".
template <>
struct SPIKEWEAVE_API option_codec<std::vector<time_span>> {
    static constexpr auto kind = option_kind::text;
    static constexpr bool may_be_unset = true;
    static option_value show(const std::vector<time_span>& field);
    static std::vector<time_span> read(const option_value& value);
};

}  // namespace spikeweave
