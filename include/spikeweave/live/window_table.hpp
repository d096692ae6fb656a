#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/episodes/windows.hpp"

/// The table of the episodes of all windows (`window_table` of `live_options`).
namespace spikeweave {

/// The names of its columns, separated by tabs.
SPIKEWEAVE_API std::string_view window_table_columns();

/// The line of an episode in a window, without its end. The episode is written as `read_episodes`
/// reads it: "n0 4-6ms n1".
/// @param unit_names  of all units
SPIKEWEAVE_API std::string window_table_line(std::uint64_t epoch, const window_bounds& bounds,
                                             bool has_gap, const counted_episode& counted,
                                             std::span<const std::string> unit_names);

}  // namespace spikeweave
