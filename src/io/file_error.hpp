#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spikeweave/core/error.hpp"

namespace spikeweave::io {

/// "'PATH': TEXT", or "'PATH', PLACE: TEXT" with the line or record it is about.
io_error file_error(const std::filesystem::path& path, std::string_view text);
io_error file_error(const std::filesystem::path& path, std::string_view place,
                    std::string_view text);

/// The same with the reason that the operating system gives in `errno`.
io_error system_error(const std::filesystem::path& path, std::string_view text);

/// What stands in a file, in quotes, shortened, with bytes that do not print as \xNN: for messages.
std::string shown(std::string_view bytes);

bool is_utf8(std::string_view bytes);
/// Names of units: UTF-8, not empty, without control characters, ends of lines, marks that turn the
/// direction of text and code points that are no characters.
bool is_printable_utf8(std::string_view bytes);

}  // namespace spikeweave::io
