#pragma once

// Marks for the names of units in NWB files.

#include <string>
#include <vector>

namespace spikeweave::spikes {

/// The description that identifies a column `unit_name` written by spikeweave: columns of that name
/// in other files often have duplicates.
inline constexpr auto nwb_name_column = "name of the unit as spikeweave knows it";

/// An attribute of that column, and its value: a digest of the names, because HDF5 checksums do not
/// cover texts.
inline constexpr auto nwb_names_mark = "spikeweave_digest";
std::string nwb_mark_of(const std::vector<std::string>& names);

}  // namespace spikeweave::spikes
