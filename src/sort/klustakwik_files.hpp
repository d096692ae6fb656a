#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "synfire/sort/files.hpp"

namespace synfire {

/// The numbers of a `.fet.N` or `.fmask.N`, rows one after another.
struct number_table {
    std::size_t columns = 0;
    std::vector<double> values{};

    std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// @throws io_error
number_table read_table(const std::filesystem::path& path, const execution& run);

/// BASE.fet.N -> BASE.fmask.N, and BASE.N.fet -> BASE.N.fmask; nothing for other names.
std::optional<std::filesystem::path> beside(const std::filesystem::path& features,
                                            const char* extension);

/// One whole number a line.
std::vector<std::int64_t> read_whole_numbers(const std::filesystem::path& path,
                                             const execution& run);

/// Values that a file says are masks, as such.
spike_masks masks_of(const number_table& table, const std::filesystem::path& path);

}  // namespace synfire
