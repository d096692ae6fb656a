#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace spikeweave::io {

/// A kind of file that other programs write.
struct foreign_file {
    /// Endings of names, in small letters, separated by blanks; none: any name.
    std::string_view endings;
    /// The first bytes of such a file; empty: not known, and only the name identifies it.
    std::string_view begins;
    /// The kind of file and the software that reads it, as the rest of a sentence about the file;
    /// only the kind if `reader` is given.
    std::string_view is;
    /// A function of the Python package, "spikeweave.…", or of SpikeInterface's extractors.
    std::string_view reader{};
    /// Whether readers of ours know it, so that it is wrong only as raw samples.
    bool is_read = false;
    /// Whether it is a header with nothing but samples behind it, which can be skipped.
    bool is_header_and_samples = false;

    /// The sentence about the file.
    std::string says() const;
};

/// Returns the kind of a file by the bytes it begins with, 16 or more, or else by its name; null if
/// it is not known.
const foreign_file* find_foreign_file(const std::filesystem::path& path, std::string_view head);

/// Returns the first bytes of a file; none of what is no file, such as a pipe, which can be read
/// only once.
std::string head_of(const std::filesystem::path& path);

/// Names a file of a folder that is of a program whose files other functions read, such as "; its
/// 'info.rhd' holds samples of Intan, …"; empty if there is none.
std::string about_foreign_files(const std::filesystem::path& folder);

/// Refuses a file of another program that no reader of ours knows.
/// @throws io_error saying what the file is and what reads it
void refuse_foreign_file(const std::filesystem::path& path);

/// Refuses what cannot be samples from the byte `offset` on: a file of another program, an archive
/// or text. A name counts only where the content has no mark.
/// @throws io_error saying what the file is and what reads it
void refuse_as_samples(const std::filesystem::path& path, std::uint64_t offset);

}  // namespace spikeweave::io
