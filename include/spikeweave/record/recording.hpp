#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

/// One electrode of a recording.
struct recording_channel {
    std::string name{};
    /// Microvolts per count: a sample is `gain_uv * count + offset_uv`.
    double gain_uv = 1;
    double offset_uv = 0;
    /// Where the contact lies, in micrometres; contacts of different shanks are never neighbours.
    double x_um = 0;
    double y_um = 0;
    std::uint32_t shank = 0;

    friend bool operator==(const recording_channel&, const recording_channel&) = default;
};
template <>
struct members_of<recording_channel> {
    static void list(const auto& to) {
        to("name", &recording_channel::name);
        to("gain_uv", &recording_channel::gain_uv);
        to("offset_uv", &recording_channel::offset_uv);
        to("x_um", &recording_channel::x_um);
        to("y_um", &recording_channel::y_um);
        to("shank", &recording_channel::shank);
    }
};

/// The files that contain recordings; docs/formats.md has each byte by byte.
enum class recording_format : std::uint8_t {
    automatic,
    raw,         ///< int16 samples and nothing else: rate and channels come from the caller
    binary,      ///< folder with binary.json, as SpikeInterface saves it
    spikeglx,    ///< SpikeGLX `.bin` with its `.meta`
    open_ephys,  ///< Open Ephys binary folder with structure.oebin
    nwb,         ///< NWB 2.x, an ElectricalSeries in /acquisition (needs SPIKEWEAVE_HDF5)
};
template <>
SPIKEWEAVE_API enum_table<recording_format> enum_names<recording_format>();

/// The origin of the channels' positions.
enum class position_source : std::uint8_t {
    file,        ///< the recording's own files
    probe_file,  ///< the probe file that the caller named
    assumed,     ///< unknown: a line with 20 um between neighbours, in the order of channels
};
SPIKEWEAVE_API std::string_view to_string(position_source source);

struct recording_read_options {
    recording_format format = recording_format::automatic;
    /// For raw files only: sample rate in Hz, number of channels, microvolts per count (0: unknown,
    /// 1 is used), bytes before the first sample. With a rate or a number of channels, a file of
    /// any format is read as raw samples, unless another format is asked for.
    double sample_rate = 0;
    std::uint32_t channels = 0;
    double gain = 0;
    std::uint64_t header_bytes = 0;
    /// A probe file in probeinterface's JSON, used instead of the positions in the recording;
    /// empty: none. Channels without a contact in it are left out, with a warning.
    std::filesystem::path probe{};
    /// The name of the stream to read if there are several: a stream of Open Ephys, an
    /// ElectricalSeries of NWB, a `.meta` file of SpikeGLX (its path in the folder, without the
    /// ending).
    std::string stream{};

    friend bool operator==(const recording_read_options&, const recording_read_options&) = default;
};

/// All but the format.
SPIKEWEAVE_API option_list describe(recording_read_options& options);

class sample_source;

/// The description of a recording, without its samples.
struct recording_description {
    std::vector<recording_channel> channels{};
    double rate_hz = 0;
    /// The time of the first sample by the clock of the recording's files, which the other times in
    /// them, such as those of trials and events, count by; 0 if they have none.
    duration begin{};
    std::filesystem::path path{};
    /// All files used: the file with the samples, then those that describe them.
    std::vector<std::filesystem::path> files{};
    /// Where the samples begin in the first of them.
    std::uint64_t header_bytes = 0;
    recording_format format = recording_format::automatic;
    position_source positions = position_source::assumed;
    /// Warnings for the user, as full sentences.
    std::vector<std::string> warnings{};
};

/// Samples of many channels over time, int16, read in pieces from their source: the object is small
/// for any length of recording, copies share the open file, and any number of threads
/// may read at once.
class SPIKEWEAVE_API recording {
public:
    /// Holds samples in memory: `samples.size() / channels` frames, channels fastest.
    /// @throws invalid_argument if there are no channels, the rate is not above 0, names repeat, or
    /// the last frame is incomplete.
    recording(recording_description description, std::vector<std::int16_t> samples);
    /// Reads from `source`, as for recordings opened from files.
    recording(recording_description description, std::shared_ptr<const sample_source> source);

    const recording_description& description() const { return description_; }
    const std::vector<recording_channel>& channels() const { return description_.channels; }
    std::size_t channel_count() const { return description_.channels.size(); }
    double rate_hz() const { return description_.rate_hz; }
    /// Number of samples of each channel.
    std::uint64_t frame_count() const;
    /// Rounded to a microsecond.
    duration length() const;

    /// Frames from `first` on, as many as `into` holds, channels fastest.
    /// @throws invalid_argument if the range is beyond the end or not in whole frames; io_error.
    void read(std::uint64_t first, std::span<std::int16_t> into) const;

    /// The channels that have a contact in a probe file (probeinterface's JSON), where these are;
    /// others are left out, with a warning in its description.
    /// @throws io_error naming the file, what was found and what was expected.
    recording with_probe(const std::filesystem::path& probe) const;

private:
    recording_description description_;
    std::shared_ptr<const sample_source> source_;
};

/// Opens a recording. Only its description is read.
/// @throws io_error naming the file, the key, what was found and what was expected;
/// invalid_argument for options that do not fit the format; cancelled if `run.stop` is requested,
/// now or while the recording's samples are read from NWB.
SPIKEWEAVE_API recording read_recording(const std::filesystem::path& path,
                                        const recording_read_options& how = {},
                                        const execution& run = {});

/// Detects the format of a file or folder from its signature. Raw samples have none, and an NWB
/// file with sorted units counts as spikes.
/// @throws io_error for a damaged file; cancelled
SPIKEWEAVE_API std::optional<recording_format> find_recording_format(
    const std::filesystem::path& path, const execution& run = {});

/// Whether a file should be read as a recording: it has the signature of one, or the options
/// include some that only raw samples need.
/// @throws io_error for a damaged file; cancelled
SPIKEWEAVE_API bool is_recording(const std::filesystem::path& path,
                                 const recording_read_options& how = {}, const execution& run = {});

/// Writes a folder that SpikeInterface's `load` and `read_binary_folder` (and `read_recording`)
/// open: `binary.json`, `si_folder.json`, `probe.json` and `traces.raw`, frame after frame, in
/// bounded memory. The folder is written atomically.
class SPIKEWEAVE_API recording_writer {
public:
    /// @param other_files names of further files that the caller writes to the folder
    /// @throws io_error if the folder exists (unless it may be replaced and holds nothing else) or
    /// cannot be created; invalid_argument as `recording`.
    recording_writer(const std::filesystem::path& folder, recording_description description,
                     bool overwrite = false, const std::vector<std::string>& other_files = {});
    ~recording_writer();
    recording_writer(recording_writer&&) noexcept;
    recording_writer& operator=(recording_writer&&) noexcept;
    recording_writer(const recording_writer&) = delete;
    recording_writer& operator=(const recording_writer&) = delete;

    /// Whole frames, channels fastest. @throws io_error
    void append(std::span<const std::int16_t> frames);
    /// The path at which the caller writes one of its files before `commit`.
    std::filesystem::path file(std::string_view name) const;
    /// Gives the folder its final name. @throws io_error, cancelled; the folder is then absent.
    void commit(const execution& run = {});

private:
    struct SPIKEWEAVE_LOCAL parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace spikeweave
