#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Units that are analysed as one: clumps of neurons, channels of an electrode, layers, wells of a
/// plate.
namespace spikeweave {

/// The group of each unit that is in one, by their names.
using unit_groups = std::map<std::string, std::string, std::less<>>;

struct grouped_spikes {
    /// Each group is a unit, by its name; units that are in no group stay as they are.
    spike_sequence spikes{};
    std::size_t groups = 0;
    /// Spikes that were not counted, because their group had just fired.
    std::size_t merged = 0;
};

/// Analyses each group as one unit. A spike no later than `window` after the last one of its group
/// that was counted is not counted itself: 0 merges spikes at the same microsecond only, as units
/// have no two spikes at one time.
/// @throws invalid_argument if `window` is negative, a unit of `groups` does not exist, or a group
/// is called like a unit that is in no group.
SPIKEWEAVE_API grouped_spikes group_units(const spike_sequence& spikes, const unit_groups& groups,
                                          duration window = duration{0});

/// The result of `without_units`.
struct remaining_groups {
    unit_groups groups{};
    std::vector<std::string> empty{};     ///< groups of which no unit is left
    std::vector<std::string> warnings{};  ///< which groups lack which units, as full sentences
};

/// The groups without units that were left out before, such as those that fire too fast.
SPIKEWEAVE_API remaining_groups without_units(const unit_groups& groups,
                                              std::span<const std::string> left_out);

/// Reads the groups of units: a unit and its group on each line, separated by a tab or a comma.
/// A first line "unit, group" is a header, lines with '#' are comments.
/// @throws io_error with the line, what was found and expected; also if a unit is listed twice, or
/// none is listed.
SPIKEWEAVE_API unit_groups read_unit_groups(const std::filesystem::path& path);

}  // namespace spikeweave
