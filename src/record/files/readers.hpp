#pragma once

// All readers of recordings, with one source file each. Each validates its input and throws
// io_error with the file, the key, what was found and what was expected.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "spikeweave/record/recording.hpp"
#include "spikeweave/record/sample_source.hpp"

namespace spikeweave::record {

/// The arguments of one call of `read_recording`.
struct opening {
    const std::filesystem::path& path;
    const recording_read_options& how;
    const execution& run;
};

/// The result of a reader. Channels without positions are put on a line, or where the caller's
/// probe file says.
struct opened {
    recording_description description{};
    std::shared_ptr<const sample_source> source{};
};

opened read_raw(const opening& job);
opened read_binary_folder(const opening& job);
opened read_spikeglx(const opening& job);
opened read_open_ephys(const opening& job);
opened read_nwb_recording(const opening& job);

/// Returns whether an HDF5 file has an ElectricalSeries and no table of units; false in a build
/// without SPIKEWEAVE_HDF5.
bool is_nwb_recording(const std::filesystem::path& path, const std::stop_token& stop);

/// Samples of a flat file with `stored` channels in each frame.
struct flat_file {
    std::filesystem::path path{};
    std::uint64_t offset_bytes = 0;
    std::size_t stored = 0;
    /// Whether the last frame may be incomplete, and is then left out.
    bool may_be_cut = false;
};
/// @throws io_error if the file has no whole frame, or does not end with one.
std::shared_ptr<const sample_source> open_flat_file(flat_file what);

/// Returns the samples of the channels `kept`, in this order, of a source with `stored` channels.
std::shared_ptr<const sample_source> keep_channels(std::shared_ptr<const sample_source> all,
                                                   std::size_t stored,
                                                   std::vector<std::size_t> kept);

/// Returns channels named "0", "1", … with a prefix.
std::vector<recording_channel> numbered_channels(std::size_t n, std::string_view prefix = "");
/// Returns all numbers below n.
std::vector<std::size_t> all_below(std::size_t n);

/// Returns, sorted, the files whose names end with `ending` in a folder and its subfolders to a
/// depth of five.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                               std::string_view ending);

/// Returns the stream that `wanted` names, or the only one.
/// @throws io_error listing the names if the choice is not unique.
std::size_t choose_stream(const std::filesystem::path& path, const std::vector<std::string>& names,
                          const std::string& wanted, std::string_view what);

/// Checks that the number of channels is plausible, because memory is allocated for as many as a
/// header claims.
/// @throws io_error naming the file and the key
void check_channels(const std::filesystem::path& path, std::string_view key, std::uint64_t count);

/// Returns a valid sample rate. @throws io_error naming the file and the key.
double checked_rate(const std::filesystem::path& path, std::string_view key, double rate_hz);

/// Gives channels the positions of their contacts in a probe file (probeinterface's JSON), and
/// returns the channels that have one. A channel's contact is the one whose
/// `device_channel_indices` is its number; in a file without them, contacts are in the order of
/// channels, and there is one for each.
/// @throws io_error if a channel has two contacts, or if no channel has one.
std::vector<std::size_t> place_by_probe_file(const std::filesystem::path& probe,
                                             std::vector<recording_channel>& channels);

/// The same for an opened recording, of which channels without a contact are left out, with a
/// warning.
void place_by_probe_file(const std::filesystem::path& probe, opened& what);

/// Places channels in a column, 20 um apart.
void place_on_a_line(std::vector<recording_channel>& channels);

/// Returns what `place_by_probe_file` and probeinterface's `read_probeinterface` read.
std::string probe_json(const std::vector<recording_channel>& channels);

/// Takes the time of the first sample from the numbers that a recording system gave its samples,
/// and warns of those that are missing in between, and of numbers of fewer or more samples than the
/// `frames` that there are.
///
/// @param path  .npy with a number for each sample: whole numbers, or times in seconds. A file that
/// does not exist says nothing.
/// @param what  with the rate
/// @throws io_error if it is no array of numbers
void take_sample_numbers(const std::filesystem::path& path, std::uint64_t frames,
                         recording_description& what);

}  // namespace spikeweave::record
