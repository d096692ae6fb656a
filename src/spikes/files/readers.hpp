#pragma once

// All readers and writers of spikes, with one source file each. Each reader validates its input and
// throws io_error with the file, the line or record, what was found and what was expected.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

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
spike_file read_nwb(const reading& job);
spike_file read_session(const reading& job);

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
/// recorded span.
void finish(spike_file& file, spike_sequence_builder& builder, const reading& job,
            const time_span* span = nullptr);

/// Returns the message for a time below zero if these are not allowed.
std::string found_before_zero(std::string_view time);

/// Checks that binary files can hold these spikes: names are printable, and times are exact in
/// seconds.
/// @throws invalid_argument
void check_exact_in_seconds(const writing& job);

/// Returns whether a unit's name is an integer in its usual form: "0", "17", "-3"; not "01".
bool is_plain_integer(std::string_view name);

}  // namespace spikeweave::spikes
