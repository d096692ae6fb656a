#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::pipeline {

/// The first dozen names: "n1, n2, …", or "no units".
std::string names_text(std::span<const std::string> names);

/// Where the units of a recording are in another one. Units are the same if they have the same
/// name.
struct same_units {
    /// The number in the other recording of each unit, or nothing.
    std::vector<std::optional<unit_id>> places{};
    std::vector<std::string> missing{};  ///< names of the units that the other recording lacks

    std::optional<unit_id> in_other(unit_id unit) const { return places[to_index(unit)]; }
    /// "2 of 26 units are not in the other recording: n3, n7"
    std::string missing_text() const;
};

/// @param recording, other  the names of their units
/// @throws invalid_argument if no unit is in both.
same_units match_units(const std::vector<std::string>& recording,
                       const std::vector<std::string>& other);

/// @param other  a recording, or epochs of it
/// @throws invalid_argument if all its spikes are in `recording`, at the same times and of units of
/// the same names, which would confirm whatever was found.
void check_other_recording(const spike_sequence& recording, const spike_sequence& other);

}  // namespace spikeweave::pipeline
