#pragma once

namespace spikeweave {

/// The description by which a column `unit_name` of an NWB file is known to be spikeweave's:
/// columns of that name in other files often repeat.
inline constexpr auto nwb_name_column = "name of the unit as spikeweave knows it";

}  // namespace spikeweave
