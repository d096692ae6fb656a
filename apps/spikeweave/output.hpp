#pragma once

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

namespace spikeweave::cli {

/// Makes sure that descriptors 0 to 2 are open: else the next file opened would be taken for
/// standard output.
void hold_standard_streams();

/// Whoever read standard output has seen enough, as `head` has after ten lines.
class output_closed : public std::exception {};

/// @throws io_error if not all of it could be written, as on a full disk; output_closed.
void write_stdout(std::string_view text);
/// Output that cannot be written is lost: there is nowhere left to report it.
void write_stderr(std::string_view text) noexcept;

/// "12,345,678".
std::string grouped(std::uint64_t number);
/// "3 s", "2 min 10 s", "1 h 5 min".
std::string rough_time(double seconds);
/// The largest resident memory of this process so far.
std::uint64_t peak_memory_bytes();

/// Refuses a result's place before the work, not after it: it must not exist (unless it may be
/// replaced) and its folder must be there and writable.
/// @throws io_error
void check_output_place(const std::filesystem::path& path, bool may_replace);

}  // namespace spikeweave::cli
