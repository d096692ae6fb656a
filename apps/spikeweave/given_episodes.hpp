#pragma once

#include <filesystem>
#include <vector>

#include "spikeweave/mine/episode.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::cli {

/// Reads episodes, one a line: `n0 4-6ms n1 4-6ms n2`; `#` begins a comment.
/// @throws io_error naming the file and the line.
std::vector<episode> read_given_episodes(const std::filesystem::path& path,
                                         const spike_sequence& spikes);

}  // namespace spikeweave::cli
