#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace spikeweave::cli {

/// Makes sure that descriptors 0 to 2 are open, because otherwise the next file opened would become
/// standard output.
void hold_standard_streams();

/// The reader of standard output has closed it, as `head` does after ten lines.
class output_closed : public std::exception {};

/// @throws io_error if not all of it can be written, as on a full disk; output_closed.
void write_stdout(std::string_view text);
/// Output that cannot be written is lost, because there is nowhere to report it.
void write_stderr(std::string_view text) noexcept;

/// Formats a number as "12,345,678".
std::string grouped(std::uint64_t number);
/// Checks the place of a result before the work begins.
/// @throws io_error if it exists and may not be replaced, or if its folder is missing or cannot be
/// written.
void check_output_place(const std::filesystem::path& path, bool may_replace);

}  // namespace spikeweave::cli
