#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <stop_token>
#include <string>

#include "live/sources/arrivals.hpp"

namespace spikeweave::live {

/// Bytes of a file, a pipe or standard input as they come.
class byte_input {
public:
    enum class awaited : std::uint8_t { bytes, silence, end };

    /// @param path      "-" is standard input
    /// @param expected  such as "spikes", for the error of a terminal
    /// @param stop      ends waiting within a moment
    /// @throws io_error if it cannot be opened or is a terminal.
    byte_input(const std::filesystem::path& path, const char* expected, std::stop_token stop);
    ~byte_input();
    byte_input(const byte_input&) = delete;
    byte_input& operator=(const byte_input&) = delete;

    /// Waits for bytes, at most for `longest_silence`, and reads as many as `into` has room for.
    /// @param got  set to their number; 0: there are no more. A request to stop is an end.
    /// @throws io_error
    awaited read(std::span<char> into, std::size_t& got);

    const std::string& shown_name() const { return shown_name_; }
    /// Whether it is a file, which is read as fast as possible.
    bool is_file() const { return is_file_; }
    std::chrono::steady_clock::time_point arrived_after() const { return arrived_.since(); }

private:
    awaited wait();

    std::string shown_name_;
    int descriptor_;
    bool is_file_;
    std::stop_token stop_;
    arrival_bound arrived_{};
};

}  // namespace spikeweave::live
