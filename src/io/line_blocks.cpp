#include "io/line_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/file_error.hpp"

namespace spikeweave::io {

std::string_view line_blocks::next() {
    lines_before_ += lines_in_block_;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(block_end_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= block_end_;
    filled_ += in_->read(std::span{buffer_}.subspan(filled_, block_bytes - filled_));
    const bool at_end = filled_ < block_bytes;
    const std::string_view all{buffer_.data(), filled_};
    if (at_end) {
        if (!all.empty() && all.back() != '\n') buffer_[filled_++] = '\n';
        block_end_ = filled_;
    } else {
        const std::size_t last = all.rfind('\n');
        if (last == std::string_view::npos)
            throw file_error(
                in_->path(), fmt::format("line {}", lines_before_ + 1),
                fmt::format("is longer than {} bytes, expected one spike per line", block_bytes));
        block_end_ = last + 1;
    }
    const std::string_view block{buffer_.data(), block_end_};
    lines_in_block_ = static_cast<std::uint64_t>(std::count(block.begin(), block.end(), '\n'));
    return block;
}

bool line_reader::next(std::string_view& line) {
    if (rest_.empty()) rest_ = blocks_.next();
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_number_;
    return true;
}

}  // namespace spikeweave::io
