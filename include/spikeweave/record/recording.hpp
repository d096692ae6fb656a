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

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave {

/// One electrode of a recording.
struct recording_channel {
    std::string name{};
    /// Microvolts of one count: a sample is `gain_uv * count + offset_uv`.
    double gain_uv = 1;
    double offset_uv = 0;
    /// Where the contact lies, in micrometres; contacts of different shanks are never neighbours.
    double x_um = 0;
    double y_um = 0;
    std::uint32_t shank = 0;

    friend bool operator==(const recording_channel&, const recording_channel&) = default;
};

/// The files that hold recordings; docs/formats.md has each byte by byte.
enum class recording_format : std::uint8_t {
    automatic,
    raw,         ///< int16 samples and nothing else: rate and channels come from the caller
    binary,      ///< folder with binary.json, as SpikeInterface saves it
    spikeglx,    ///< SpikeGLX `.bin` with its `.meta`
    open_ephys,  ///< Open Ephys binary folder with structure.oebin
    nwb,         ///< NWB 2.x, an ElectricalSeries in /acquisition (needs SPIKEWEAVE_HDF5)
};
std::string_view to_string(recording_format format);
recording_format recording_format_from(std::string_view name);  ///< @throws invalid_argument

/// Where the positions of the channels come from.
enum class position_source : std::uint8_t {
    file,        ///< the recording's own files
    probe_file,  ///< the probe file that the caller named
    assumed,     ///< nobody said: a line with 20 um between neighbours, in the order of channels
};
std::string_view to_string(position_source source);

struct recording_reading {
    recording_format format = recording_format::automatic;
    /// Of raw files only, which do not say themselves: samples a second, channels, microvolts of a
    /// count (0: not known, 1 is taken), bytes before the first sample.
    double rate_hz = 0;
    std::uint32_t channels = 0;
    double gain_uv = 0;
    std::uint64_t offset_bytes = 0;
    /// A probe file in probeinterface's JSON, in place of what the recording says; empty: none.
    std::filesystem::path probe{};
    /// Which of several, by name: a stream of Open Ephys, an ElectricalSeries of NWB.
    std::string stream{};

    friend bool operator==(const recording_reading&, const recording_reading&) = default;
};

class sample_source;

/// What a recording is, but for its samples.
struct recording_description {
    std::vector<recording_channel> channels{};
    double rate_hz = 0;
    std::filesystem::path path{};
    /// All that was read or will be: the file with the samples, then what describes them.
    std::vector<std::filesystem::path> files{};
    recording_format format = recording_format::automatic;
    position_source positions = position_source::assumed;
    /// What a careful colleague would say about it; whole sentences.
    std::vector<std::string> warnings{};
};

/// Samples of many channels over time, int16, read piece by piece from where they lie: the object
/// is small whatever the recording's length, copies share the open file, and any number of threads
/// may read at once.
class recording {
public:
    /// Holds samples in memory: `samples.size() / channels` frames, channels fastest.
    /// @throws invalid_argument without channels, with a rate that is not above 0, with names that
    /// repeat, or when the samples do not fill their last frame.
    recording(recording_description description, std::vector<std::int16_t> samples);
    /// Reads from `source`, as the readers of files do.
    recording(recording_description description, std::shared_ptr<const sample_source> source);

    const recording_description& description() const { return description_; }
    const std::vector<recording_channel>& channels() const { return description_.channels; }
    std::size_t channel_count() const { return description_.channels.size(); }
    double rate_hz() const { return description_.rate_hz; }
    /// Samples of each channel.
    std::uint64_t frame_count() const;
    /// Rounded to a microsecond.
    duration length() const;

    /// Frames from `first` on, as many as `into` holds, channels fastest.
    /// @throws invalid_argument beyond the end or for a part of a frame; io_error.
    void read(std::uint64_t first, std::span<std::int16_t> into) const;

private:
    recording_description description_;
    std::shared_ptr<const sample_source> source_;
};

/// Opens a recording. Nothing is read but what describes it.
/// @throws io_error naming the file, the key, what was found and what was expected;
/// invalid_argument for options that do not fit the format; cancelled when `run.stop` is requested,
/// now or while the recording's samples are read from NWB.
recording read_recording(const std::filesystem::path& path, const recording_reading& how = {},
                         const execution& run = {});

/// The format that a file or folder carries a mark of. Raw samples carry none, and an NWB file with
/// sorted units is taken for these.
/// @throws io_error for a damaged file; cancelled
std::optional<recording_format> find_recording_format(const std::filesystem::path& path,
                                                      const execution& run = {});

/// Writes a folder that SpikeInterface's `load` and `read_binary_folder` (and `read_recording`)
/// open: `binary.json`, `si_folder.json`, `probe.json` and `traces.raw`, frame after frame, in
/// bounded memory. The folder is made aside and appears whole or not at all.
class recording_writer {
public:
    /// @param other_files  what the caller puts into the folder besides
    /// @throws io_error when the folder exists (unless it may be replaced and holds nothing else)
    /// or cannot be made; invalid_argument as `recording`.
    recording_writer(const std::filesystem::path& folder, recording_description description,
                     bool overwrite = false, const std::vector<std::string>& other_files = {});
    ~recording_writer();
    recording_writer(recording_writer&&) noexcept;
    recording_writer& operator=(recording_writer&&) noexcept;
    recording_writer(const recording_writer&) = delete;
    recording_writer& operator=(const recording_writer&) = delete;

    /// Whole frames, channels fastest. @throws io_error
    void append(std::span<const std::int16_t> frames);
    /// Where a file of the caller's has to be written before `commit`.
    std::filesystem::path file(std::string_view name) const;
    /// Gives the folder its name. @throws io_error, cancelled; then it is absent.
    void commit(const execution& run = {});

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace spikeweave
