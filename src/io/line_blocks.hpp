#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/input_stream.hpp"

namespace spikeweave::io {

/// The text of a stream in blocks of whole lines, so that a parser never sees a partial line.
class line_blocks {
public:
    /// The size of a block, and the length of the longest allowed line.
#ifdef SPIKEWEAVE_FUZZ
    static constexpr std::size_t block_bytes =
        std::size_t{1} << 12;  // small, so that inputs reach the end of a block
#else
    static constexpr std::size_t block_bytes = std::size_t{1} << 20;
#endif

    explicit line_blocks(input_stream& in) : in_(&in), buffer_(block_bytes + 1) {}

    /// Returns the next lines, each ended by '\n' (added to the last one if it is missing); empty
    /// at the end. Valid until the next call.
    /// @throws io_error if a line is longer than a block.
    std::string_view next();
    /// The number of lines before the block that `next` returned.
    std::uint64_t lines_before() const {
        return lines_before_;
    }

private:
    input_stream* in_;
    std::vector<char> buffer_;
    std::size_t block_end_ = 0;  // end of the block that was returned
    std::size_t filled_ = 0;
    std::uint64_t lines_before_ = 0;
    std::uint64_t lines_in_block_ = 0;
};

/// Reads line by line, without the line ends ("\n" or "\r\n").
class line_reader {
public:
    explicit line_reader(input_stream& in) : blocks_(in) {}

    /// @return false at the end.
    bool next(std::string_view& line);
    /// The number of the line that `next` returned, from 1.
    std::uint64_t line_number() const { return line_number_; }

private:
    line_blocks blocks_;
    std::string_view rest_;
    std::uint64_t line_number_ = 0;
};

}  // namespace spikeweave::io
