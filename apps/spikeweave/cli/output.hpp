#pragma once

#include <fmt/color.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/report/output_place.hpp"

namespace spikeweave::cli {

/// Makes sure that descriptors 0 to 2 are open, because otherwise the next file opened would become
/// standard output.
void hold_standard_streams();

/// The reader of standard output has closed it, as `head` does after ten lines.
class output_closed : public std::exception {
public:
    const char* what() const noexcept override { return "its reader has closed it"; }
};

/// @throws io_error if not all of it can be written, as on a full disk; output_closed.
void write_stdout(std::string_view text);
/// Writes what standard output takes without waiting. @return the number of bytes
/// @throws as `write_stdout`
std::size_t write_some_to_stdout(std::string_view text);
/// Output that cannot be written is lost, because there is nowhere to report it.
void write_stderr(std::string_view text) noexcept;

/// Whether a descriptor is a terminal that understands control sequences.
bool draws(int descriptor);

/// Whether text for a descriptor may have colours: it `draws`, the user did not set NO_COLOR
/// (no-color.org), and this is no rank, whose output goes somewhere else.
bool shows_colour(int descriptor);

/// A text in a style if the descriptor shows it, else the text as it is.
std::string styled(int descriptor, const fmt::text_style& style, std::string_view text);

/// A text for a terminal, which may have styles of ours, with the names of options as users type
/// them.
std::string with_names_between_styles(std::string_view styled);

using json_value = std::variant<std::uint64_t, double, std::string, std::vector<std::string>>;

/// The report of a command as one JSON document with these members.
std::string json_document(std::initializer_list<std::pair<const char*, json_value>> members);

/// A JSON document with a line break at its end.
std::string one_document(std::string json);

/// Formats a number as "12,345,678".
std::string grouped(std::uint64_t number);

}  // namespace spikeweave::cli
