#pragma once

// What the names of units in NWB are marked with.

#include <string>
#include <vector>

namespace spikeweave {

/// The description by which a column `unit_name` of an NWB file is known to be spikeweave's:
/// columns of that name in other files often repeat.
inline constexpr auto nwb_name_column = "name of the unit as spikeweave knows it";

/// An attribute of that column, and what it holds: a digest of the names, for no checksum of HDF5
/// covers texts.
inline constexpr auto nwb_names_mark = "spikeweave_digest";
std::string nwb_mark_of(const std::vector<std::string>& names);

}  // namespace spikeweave
