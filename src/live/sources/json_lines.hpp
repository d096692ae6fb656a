#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "live/sources/byte_input.hpp"
#include "live/sources/known_units.hpp"
#include "live/sources/source.hpp"
#include "live/sources/stream_clock.hpp"

/// Lines of JSON that tell of spikes: `{"t_us":123,"unit":"n3"}` and `{"watermark_us":200}`.
namespace spikeweave::live {

/// The content of a line. It has a spike, a watermark, or first one and then the other.
struct json_line {
    bool has_spike = false;
    std::int64_t time_us = 0;
    std::string unit{};
    std::optional<std::int64_t> watermark_us{};

    friend bool operator==(const json_line&, const json_line&) = default;
};

class json_line_parser {
public:
    /// This many bytes must be readable after a line.
    static constexpr std::size_t padding = 64;
    /// Times are at most this far from 0, so that sums of a few of them do not overflow.
    static constexpr std::int64_t most_time_us = std::int64_t{1} << 60;

    json_line_parser();
    ~json_line_parser();
    json_line_parser(const json_line_parser&) = delete;
    json_line_parser& operator=(const json_line_parser&) = delete;

    /// Reads a line, valid until the next call. Null if it is not JSON, has neither a spike nor a
    /// watermark, or a part of them is missing or invalid. The name of a unit is text without
    /// control characters, or a whole number; other keys are ignored.
    const json_line* parse(std::string_view line);

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Spikes as lines of JSON, from a file, a pipe or standard input. A line that cannot be read is
/// counted. Where the clock was set (`stream_clock`), a new epoch begins.
class json_lines : public source {
public:
    static constexpr std::size_t longest_line = std::size_t{1} << 16;

    /// @param path        "-" is standard input
    /// @param unit_names  units that are known before they appear
    /// @param stop        ends the source within a moment
    /// @param lateness    as of `stream_clock`
    /// @throws io_error if it cannot be opened or is a terminal.
    json_lines(const std::filesystem::path& path, std::vector<std::string> unit_names,
               std::stop_token stop = {}, duration lateness = duration{0});

    const std::vector<std::string>& unit_names() const override { return units_.names(); }
    std::optional<source_block> next() override;
    std::chrono::steady_clock::time_point arrived_after() const override {
        return input_.arrived_after();
    }
    std::string first_unreadable() const override { return first_unreadable_; }

private:
    enum class verdict : std::uint8_t { goes_on, ends_block, begins_block };

    byte_input::awaited read_more();
    std::optional<std::string_view> next_line();
    verdict take(std::string_view line, source_block& block);
    verdict take_unreadable(std::string_view line, source_block& block);

    byte_input input_;
    known_units units_;
    json_line_parser parser_;
    std::vector<char> buffer_;
    std::size_t at_ = 0;        // of the next line
    std::size_t filled_ = 0;    // bytes in the buffer
    bool is_too_long_ = false;  // the rest of a line is left out
    bool is_over_ = false;
    std::uint64_t line_ = 0;  // the number of the last line
    std::string first_unreadable_{};
    stream_clock clock_;
};

}  // namespace spikeweave::live
