#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Lines of JSON that tell of spikes: `{"t_us":123,"unit":"n3"}` and `{"watermark_us":200}`.
namespace spikeweave::live {

/// What a line says. It has a spike, a watermark, or first one and then the other.
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
    json_line_parser(json_line_parser&&) = delete;
    json_line_parser& operator=(json_line_parser&&) = delete;

    /// Reads a line, valid until the next call. Null if it is not JSON, has neither a spike nor a
    /// watermark, or a part of them is missing or invalid. The name of a unit is text without
    /// control characters, or a whole number; other keys are ignored.
    const json_line* parse(std::string_view line);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave::live
