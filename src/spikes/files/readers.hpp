#pragma once

// All readers and writers of spikes, with one source file each. Each reader validates its input and
// throws io_error with the file, the line or record, what was found and what was expected.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5_reader.hpp"
#include "io/progress_meter.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave::spikes {

/// The arguments of one call of `read_spikes`; the format is known.
struct reading {
    const std::filesystem::path& path;
    const spike_read_options& how;
    const execution& run;

    io::progress_meter meter(std::uint64_t total_bytes) const {
        return {run, "reading " + path.filename().string(), total_bytes};
    }
};

spike_file read_text(const reading& job);
spike_file read_wagenaar(const reading& job);
spike_file read_meabench(const reading& job);
spike_file read_npy(const reading& job);
spike_file read_npz(const reading& job);
spike_file read_phy(const reading& job);
spike_file read_klustakwik(const reading& job);
spike_file read_session(const reading& job);
spike_file read_alf(const reading& job);
spike_file read_open_ephys(const reading& job);
/// NWB, `.kwik` and the cultures of Eglen et al.: which one it is, the file says.
spike_file read_hdf5(const reading& job);
/// Spikes that are already in memory, with units in natural order.
/// @param names  gets the names of the units in the order of the list
spike_file read_listed(const listed_units& units, const reading& job,
                       std::vector<std::string>* names = nullptr);

/// The columns that have the labels of epochs in the files of the field, in the order of choice.
inline constexpr std::array<const char*, 4> epoch_label_columns{"condition", "label", "stimulus",
                                                                "trial_type"};

/// Whether a folder has spikes as the Open Ephys GUI saves them, or folders of these.
bool is_open_ephys_spikes(const std::filesystem::path& folder);
/// Whether a folder has spikes in the names of ALF.
bool is_alf(const std::filesystem::path& folder);

/// The arguments of one call of `write_spikes`.
struct writing {
    const std::filesystem::path& path;
    const spike_sequence& spikes;
    const execution& run;
    /// Additional columns, for `.nwb` and `.npz` only.
    std::span<const unit_column> columns{};
    bool overwrite = true;

    io::progress_meter meter() const {
        return {run, "writing " + path.filename().string(), spikes.size()};
    }
};

void write_text(const writing& job);
void write_npz(const writing& job);
void write_nwb(const writing& job);

/// Detects the format by content, or by extension if the content is ambiguous.
/// @throws io_error if it is none of the formats.
spike_format detect_format(const std::filesystem::path& path);

/// Finishes a reader: sorts the spikes, and refuses a file without spikes unless it states the
/// recorded span. Warns if times begin again.
/// @param trial_column  a column of the file that numbers trials, if there is one
void finish(spike_file& file, spike_sequence_builder& builder, const reading& job,
            const time_span* span = nullptr, std::string_view trial_column = {});

/// Returns the message for a time below zero if these are not allowed.
std::string found_before_zero(std::string_view time);

/// Checks that binary files can hold these spikes: names are printable, and times are exact in
/// seconds.
/// @throws invalid_argument
void check_exact_in_seconds(const writing& job);

/// Returns whether a unit's name is an integer in its usual form: "0", "17", "-3"; not "01".
bool is_plain_integer(std::string_view name);

/// The readers of open files of HDF5, each of which sets `spike_file::format`.
spike_file read_nwb(const io::hdf5::reader& nwb, const reading& job);
spike_file read_kwik(const io::hdf5::reader& kwik, const reading& job);
spike_file read_eglen(const io::hdf5::reader& file, const reading& job);

inline constexpr std::size_t meabench_plain_bytes = 164;
inline constexpr std::size_t meabench_padded_bytes = 168;

/// Determines the record length of a MEABench file from its first bytes; 0 if these are no such
/// records.
std::size_t meabench_record_bytes(std::string_view first_bytes, std::uint64_t file_bytes);

// Marks for the names of units in NWB files.

/// The description that identifies a column `unit_name` written by spikeweave: columns of that name
/// in other files often have duplicates.
inline constexpr auto nwb_name_column = "name of the unit as spikeweave knows it";

/// An attribute of that column, and its value: a digest of the names, because HDF5 checksums do not
/// cover texts.
inline constexpr auto nwb_names_mark = "spikeweave_digest";
std::string nwb_mark_of(const std::vector<std::string>& names);

}  // namespace spikeweave::spikes
