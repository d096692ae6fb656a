#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/line_blocks.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {

/// The positions of the time and the unit in each line of a text file.
struct text_layout {
    char delimiter = '\t';  ///< ' ' stands for any run of blanks
    int columns = 2;
    int time_column = 0;
    int unit_column = 1;
    time_scale scale = time_scale::seconds();
    /// Number of the header line, which has no spike; 0 if there is none.
    std::uint64_t header_line = 0;
    /// A column that numbers trials or recordings, and is not used; empty if there is none.
    std::string trial_column{};
    /// Whether the heading states that the units are clusters or neurons, and so not electrodes.
    bool names_clusters = false;
};

/// Finds the delimiter of a line: tab, semicolon, comma or ' '. Commas in quoted names and decimal
/// commas are not supported: such lines have a wrong number of fields and are refused.
char find_delimiter(std::string_view line);

/// Removes a byte order mark from the first line or block of a file.
std::string_view without_byte_order_mark(std::string_view text);

/// Splits a line into fields without surrounding blanks; a run of blanks is one delimiter ' '.
std::vector<std::string_view> split_fields(std::string_view line, char delimiter);

/// Determines the layout of a text file from its first lines: header, delimiter, columns, unit of
/// time. Returns nullopt if there is no line with data.
/// @throws io_error if a line or the columns are not those of a spike file.
std::optional<text_layout> find_text_layout(std::string_view first_lines, const reading& job);

}  // namespace spikeweave::spikes
