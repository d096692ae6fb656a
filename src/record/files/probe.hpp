#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/files/readers.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Gives channels the positions of their contacts in a probe file (probeinterface's JSON), and
/// returns the channels that have one. A channel's contact is the one whose
/// `device_channel_indices` is its number; in a file without them, contacts are in the order of
/// channels, and there is one for each.
/// @throws io_error if a channel has two contacts, or if no channel has one.
std::vector<std::size_t> place_by_probe_file(const std::filesystem::path& probe,
                                             std::vector<recording_channel>& channels);

/// The same for an opened recording; channels without a contact are left out, with a warning.
void place_by_probe_file(const std::filesystem::path& probe, opened& what);

/// Places channels in a column, 20 um apart.
void place_on_a_line(std::vector<recording_channel>& channels);

/// Returns what `place_by_probe_file` and probeinterface's `read_probeinterface` read.
std::string probe_json(const std::vector<recording_channel>& channels);

}  // namespace spikeweave::record
