#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/spikes/files.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Units that a file has, and that the options of reading left out.
namespace spikeweave {

/// The names of units, and for each why it was left out: "it fires at 120 Hz, above `max_rate`".
using reasons_left_out = std::map<std::string, std::string, std::less<>>;

/// Why a unit with this label was left out.
SPIKEWEAVE_API std::string label_reason(std::string_view label);

/// The units of a file that are not among its spikes, because the options left them out, and the
/// groups whose units they all left out.
SPIKEWEAVE_API reasons_left_out units_left_out(const spike_file& file);

/// The result of `choose_units`.
struct chosen_units {
    spike_sequence spikes{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
};

/// The spikes of some units of a file, as `select_units`; the name of a well of a plate, such as
/// B1, stands for its units, such as B1_11. Of these units, those that the options left out are not
/// used, with a warning that states the reason.
/// @throws invalid_argument if a unit was never in the file, or all of them were left out.
SPIKEWEAVE_API chosen_units choose_units(const spike_file& file,
                                         std::span<const std::string> names);

/// For findings that need all of their units, such as an episode.
/// @throws invalid_argument with the reason, if one of the units was left out.
SPIKEWEAVE_API void check_not_left_out(const reasons_left_out& left_out,
                                       std::span<const std::string> names);

}  // namespace spikeweave
