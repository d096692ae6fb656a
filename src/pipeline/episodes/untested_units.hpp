#pragma once

#include <optional>
#include <string>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::pipeline {

/// Warns which units are in no frequent pair, so that nothing is known about their connections, if
/// a quarter or more of the units with enough spikes are not. Who chose the threshold, or did not
/// search for pairs, knows that.
/// @param asked  the options as the user gave them
std::optional<std::string> warning_of_untested_units(const spike_sequence& spikes,
                                                     const episode_table& table,
                                                     const episode_mining_options& asked);

}  // namespace spikeweave::pipeline
