#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spikeweave/record/recording.hpp"

namespace spikeweave {

/// Puts every channel where a probe file (probeinterface's JSON) has its contact: the contact
/// whose `device_channel_indices` is the channel's number, or, in a file without them, in order.
/// @throws io_error when a channel has no contact or two.
void place_by_probe_file(const std::filesystem::path& probe,
                         std::vector<recording_channel>& channels);

/// One above the other, 20 um apart.
void place_on_a_line(std::vector<recording_channel>& channels);

/// What `place_by_probe_file` reads and probeinterface's `read_probeinterface`.
std::string probe_json(const std::vector<recording_channel>& channels);

}  // namespace spikeweave
