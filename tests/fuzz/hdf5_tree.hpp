#pragma once

#include <filesystem>
#include <string_view>

namespace spikeweave::fuzz {

/// Writes the HDF5 file that a text describes, so that mutants of the text are valid files with
/// other contents: libhdf5 1.10 itself does not survive files with damaged bytes. There is one line
/// per object; invalid lines are skipped:
///
///     group PATH
///     data PATH TYPE SHAPE VALUES...
///     attribute PATH NAME TYPE SHAPE VALUES...
///     link PATH TO
///     outside PATH FILE TO
///
/// TYPE is i1 to i8, u1 to u8, f4, f8, text, or S and a number of bytes; SHAPE is "3", "3x2", or
/// "-" for a single item. If there are too few values they are repeated; without any, or for more
/// than a few thousand items, a dataset has no storage.
void write_hdf5_tree(const std::filesystem::path& path, std::string_view text);

}  // namespace spikeweave::fuzz
