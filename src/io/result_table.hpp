#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave::io {

/// @throws io_error if the file cannot be read.
std::ifstream open_text(const std::filesystem::path& path);

/// A table in the folder of a result, row by row.
class result_table {
public:
    /// @throws io_error if the file cannot be read.
    explicit result_table(const std::filesystem::path& path);

    const std::vector<std::string>& columns() const { return columns_; }
    bool has(std::string_view column) const;
    /// The number of a column. @throws io_error if there is none of this name.
    std::size_t column(std::string_view name) const;

    /// Reads the next row. @throws io_error if it has not as many cells as there are columns.
    bool next();
    const std::string& operator[](std::size_t column) const { return cells_[column]; }
    /// The line of the row in the file.
    std::size_t line() const { return line_; }

private:
    std::filesystem::path path_;
    std::ifstream in_;
    std::vector<std::string> columns_{};
    std::vector<std::string> cells_{};
    std::size_t line_ = 1;
};

/// Makes an error of the file of what is wrong in a line.
template <class Read>
auto read_line(const std::filesystem::path& table, std::size_t number, const Read& read) {
    try {
        return read();
    } catch (const invalid_argument& error) {
        throw io_error(fmt::format("{}, line {}: {}", table.string(), number, error.what()));
    }
}

}  // namespace spikeweave::io
