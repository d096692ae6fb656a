#pragma once

#include <optional>
#include <string>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::pipeline {

/// Whether a search for pairs chooses its threshold by itself. Who gives one knows that it leaves
/// pairs out.
bool has_default_threshold(const episode_mining_options& options);

/// Says which units are in no frequent pair, so that nothing is known of their connections, if a
/// quarter or more of the units with enough spikes are not.
/// @param table  a search with the default threshold
std::optional<std::string> warning_of_untested_units(const spike_sequence& spikes,
                                                     const episode_table& table);

}  // namespace spikeweave::pipeline
