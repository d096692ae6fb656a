#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/input_stream.hpp"

namespace spikeweave::io {

/// The text of a stream in blocks of whole lines, so that a parser meets neither a cut line nor the
/// end of a buffer.
class line_blocks {
public:
    /// A block's size, and with it the longest line there may be.
#ifdef SPIKEWEAVE_FUZZ
    static constexpr std::size_t block_bytes = std::size_t{1}
                                               << 12;  // so that inputs reach its end
#else
    static constexpr std::size_t block_bytes = std::size_t{1} << 20;
#endif

    explicit line_blocks(input_stream& in) : in_(&in), buffer_(block_bytes + 1) {}

    /// The next lines, each ended by '\n' (added to the last one where it is missing); empty at the
    /// end. Valid until the next call.
    /// @throws io_error when a line is longer than a block.
    std::string_view next();
    /// Lines before the block that `next` returned.
    std::uint64_t lines_before() const {
        return lines_before_;
    }

private:
    input_stream* in_;
    std::vector<char> buffer_;
    std::size_t block_end_ = 0;  // of the block that was handed out
    std::size_t filled_ = 0;
    std::uint64_t lines_before_ = 0;
    std::uint64_t lines_in_block_ = 0;
};

/// One line after another, without its end ("\n" or "\r\n").
class line_reader {
public:
    explicit line_reader(input_stream& in) : blocks_(in) {}

    /// @return false at the end.
    bool next(std::string_view& line);
    /// The number of the line that `next` gave, from 1.
    std::uint64_t line_number() const { return line_number_; }

private:
    line_blocks blocks_;
    std::string_view rest_;
    std::uint64_t line_number_ = 0;
};

}  // namespace spikeweave::io
