#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/sort/files.hpp"

namespace spikeweave::sort {

/// The numbers of a `.fet.N` or `.fmask.N` file, row by row.
struct number_table {
    std::size_t columns = 0;
    std::vector<double> values{};

    std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// Receives a row of numbers and its position in the file.
using row_taker = std::function<void(std::span<const double> row, const std::string& place)>;

/// Reads row by row, so that masks are never in memory with all their zeros. @throws io_error
void read_rows(const std::filesystem::path& path, const row_taker& take, const execution& run);
/// @throws io_error
number_table read_table(const std::filesystem::path& path, const execution& run);

/// BASE.fet.N -> BASE.fmask.N, and BASE.N.fet -> BASE.N.fmask; nullopt for other names.
std::optional<std::filesystem::path> beside(const std::filesystem::path& features,
                                            const char* extension);

/// Reads one whole number from each line.
std::vector<std::int64_t> read_whole_numbers(const std::filesystem::path& path,
                                             const execution& run);

/// Appends a row of masks. @throws io_error naming the column that is not a mask
void append_masks(spike_masks& masks, std::span<const double> row, const std::string& place,
                  const std::filesystem::path& path);

}  // namespace spikeweave::sort
