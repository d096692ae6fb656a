#include "io/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/readable_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::io {

std::ifstream open_text(const std::filesystem::path& path) {
    std::ifstream in = open_given(path);
    if (!in)
        throw io_error(fmt::format("cannot read {}: {}", path.string(),
                                   std::generic_category().message(errno)));
    return in;
}

result_table::result_table(const std::filesystem::path& path) : path_(path), in_(open_text(path)) {
    std::string line;
    if (!std::getline(in_, line))
        throw file_error(path_, "it is empty, expected the table of a result");
    const std::vector<std::string_view> names = core::split(line, "\t");
    columns_.assign(names.begin(), names.end());
}

bool result_table::has(std::string_view column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

std::size_t result_table::column(std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end())
        throw io_error(fmt::format("{} has no column '{}', expected the table of a result",
                                   path_.string(), name));
    return static_cast<std::size_t>(found - columns_.begin());
}

bool result_table::next() {
    std::string text;
    if (!std::getline(in_, text)) return false;
    ++line_;
    const std::vector<std::string_view> cells = core::split(text, "\t");
    for (const std::string_view cell : cells)
        if (!cell.empty() && !is_printable_utf8(cell))
            throw file_error(
                path_, fmt::format("line {}", line_),
                fmt::format("found {}, expected printable text in UTF-8", shown(cell)));
    cells_.assign(cells.begin(), cells.end());
    if (cells_.size() != columns_.size())
        throw io_error(fmt::format("{}, line {}: {} columns, expected {}", path_.string(), line_,
                                   cells_.size(), columns_.size()));
    return true;
}

}  // namespace spikeweave::io
