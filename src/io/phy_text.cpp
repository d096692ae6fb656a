#include "io/phy_text.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "io/file_error.hpp"
#include "io/line_blocks.hpp"

namespace spikeweave::io {
namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

}  // namespace

double read_phy_sample_rate(const std::filesystem::path& path) {
    input_stream in(path);
    line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || trimmed(line.substr(0, equals)) != "sample_rate")
            continue;
        std::string value(trimmed(line.substr(equals + 1)));
        std::erase(value, '_');
        double rate = 0;
        const auto [end, code] =
            fast_float::from_chars(value.data(), value.data() + value.size(), rate);
        const std::string_view rest =
            trimmed({end, static_cast<std::size_t>(value.data() + value.size() - end)});
        if (code != std::errc{} || (!rest.empty() && !rest.starts_with('#')) || !(rate > 0) ||
            !std::isfinite(rate))
            throw file_error(path, fmt::format("line {}", lines.line_number()),
                             fmt::format("found {}, expected a sample rate in Hz, such as "
                                         "sample_rate = 30000.0",
                                         shown(line)));
        return rate;
    }
    throw file_error(path, "has no line 'sample_rate = RATE'");
}

std::set<std::int64_t> read_phy_noise(const std::filesystem::path& path) {
    std::set<std::int64_t> out;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return out;
    input_stream in(path);
    line_reader lines(in);
    for (std::string_view line; lines.next(line);) {
        const std::size_t tab = line.find('\t');
        if (tab == std::string_view::npos || lines.line_number() == 1) continue;
        const std::string_view number = trimmed(line.substr(0, tab));
        const std::string_view rest = line.substr(tab + 1);
        std::int64_t cluster = 0;
        const auto [end, code] =
            std::from_chars(number.data(), number.data() + number.size(), cluster);
        if (code != std::errc{} || end != number.data() + number.size())
            throw file_error(
                path, fmt::format("line {}", lines.line_number()),
                fmt::format("found {}, expected a cluster's number and its group", shown(line)));
        if (trimmed(rest.substr(0, rest.find('\t'))) == "noise") out.insert(cluster);
    }
    return out;
}

}  // namespace spikeweave::io
