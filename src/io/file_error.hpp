#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/time.hpp"

namespace spikeweave::io {

/// Returns "'PATH': TEXT", or "'PATH', PLACE: TEXT" with the line or record that the text is about.
io_error file_error(const std::filesystem::path& path, std::string_view text);
io_error file_error(const std::filesystem::path& path, std::string_view place,
                    std::string_view text);

/// The same with the reason that the operating system gives in `errno`.
io_error system_error(const std::filesystem::path& path, std::string_view text);

/// Returns a time in seconds that a file has at `place`. @throws io_error if no spike can be then.
duration time_in_file(const std::filesystem::path& path, std::string_view place, double seconds);

/// Quotes and shortens content of a file for messages; unprintable bytes become \xNN.
std::string shown(std::string_view bytes);

bool is_utf8(std::string_view bytes);
/// Returns whether text can be the name of a unit: not empty, UTF-8, and without control
/// characters, line ends, marks that change the direction of text and code points that are no
/// characters.
bool is_printable_utf8(std::string_view bytes);

}  // namespace spikeweave::io
