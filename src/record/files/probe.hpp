#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Gives every channel the position of its contact in a probe file (probeinterface's JSON). A
/// channel's contact is the one whose `device_channel_indices` is its number; in a file without
/// them, contacts are in the order of channels.
/// @throws io_error if a channel has no contact or two.
void place_by_probe_file(const std::filesystem::path& probe,
                         std::vector<recording_channel>& channels);

/// Places channels in a column, 20 um apart.
void place_on_a_line(std::vector<recording_channel>& channels);

/// Returns what `place_by_probe_file` and probeinterface's `read_probeinterface` read.
std::string probe_json(const std::vector<recording_channel>& channels);

}  // namespace spikeweave::record
