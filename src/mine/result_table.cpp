#include "mine/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::mine {

std::ifstream open_text(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in)
        throw io_error(fmt::format("cannot read {}: {}", path.string(),
                                   std::generic_category().message(errno)));
    return in;
}

std::vector<std::string> split_text(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    std::size_t at = 0;
    for (std::size_t end = text.find(by); end != std::string::npos; end = text.find(by, at)) {
        parts.push_back(text.substr(at, end - at));
        at = end + by.size();
    }
    parts.push_back(text.substr(at));
    return parts;
}

result_table::result_table(const std::filesystem::path& path) : path_(path), in_(open_text(path)) {
    std::string line;
    std::getline(in_, line);
    columns_ = split_text(line, "\t");
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
    for (const std::string& cell : split_text(text, "\t"))
        if (!cell.empty() && !io::is_printable_utf8(cell))
            throw io::file_error(
                path_, fmt::format("line {}", line_),
                fmt::format("found {}, expected printable text in UTF-8", io::shown(cell)));
    cells_ = split_text(text, "\t");
    if (cells_.size() != columns_.size())
        throw io_error(fmt::format("{}, line {}: {} columns, expected {}", path_.string(), line_,
                                   cells_.size(), columns_.size()));
    return true;
}

}  // namespace spikeweave::mine
