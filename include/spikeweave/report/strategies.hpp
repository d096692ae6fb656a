#pragma once

#include <string>

#include "spikeweave/core/export.hpp"

/// The strategies of this build as text for a terminal, a line for each, as --list-strategies shows
/// them.
namespace spikeweave {

/// States for each strategy where it runs, in the words of --device.
SPIKEWEAVE_API std::string list_episode_strategies();
SPIKEWEAVE_API std::string list_spade_strategies();
SPIKEWEAVE_API std::string list_sort_strategies();

}  // namespace spikeweave
