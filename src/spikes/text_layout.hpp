#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/line_blocks.hpp"
#include "spikes/readers.hpp"
#include "spikes/time_scale.hpp"

namespace spikeweave {

/// Where the time and the unit stand in each line of a text file.
struct text_layout {
    char delimiter = '\t';  ///< ' ' stands for any run of blanks
    int columns = 2;
    int time_column = 0;
    int unit_column = 1;
    time_scale scale = time_scale::seconds();
    /// Number of the header line, which holds no spike; 0 without one.
    std::uint64_t header_line = 0;
};

/// What parts the fields of a line: tab, semicolon, comma or ' '. Neither commas in a quoted name
/// nor decimal commas are known: such lines have a wrong number of fields, and are refused for it.
char find_delimiter(std::string_view line);

/// The first line of a file, or its first block.
std::string_view without_byte_order_mark(std::string_view text);

/// The fields of a line without surrounding blanks; a run of blanks is one delimiter ' '.
std::vector<std::string_view> split_fields(std::string_view line, char delimiter);

/// Finds out how a text file is laid out from its first lines: header, delimiter, columns, unit of
/// time. Empty if there is no line with data.
/// @throws io_error when a line or the columns cannot be what a spike file has.
std::optional<text_layout> find_text_layout(std::string_view first_lines, const reading& job);

}  // namespace spikeweave
