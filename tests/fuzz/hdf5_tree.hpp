#pragma once

#include <filesystem>
#include <string_view>

namespace spikeweave::fuzz {

/// Writes an HDF5 file as a text says, so that mutants of the text are whole files with other
/// contents: libhdf5 1.10 itself does not survive files whose bytes are damaged. A line an object;
/// a line that says nothing is skipped:
///
///     group PATH
///     data PATH TYPE SHAPE VALUES...
///     attribute PATH NAME TYPE SHAPE VALUES...
///     link PATH TO
///     outside PATH FILE TO
///
/// TYPE is i1 to i8, u1 to u8, f4, f8, text, or S and a number of bytes; SHAPE is "3", "3x2", or
/// "-" for a single item. Values that are too few stand again from the first one; without any, or
/// for more than a few thousand items, a dataset has no storage.
void write_hdf5_tree(const std::filesystem::path& path, std::string_view text);

}  // namespace spikeweave::fuzz
