#include "spikeweave/spikes/positions.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"

namespace spikeweave {
namespace {

constexpr double pitch_um = 200;

// Row 1 is the upper one.
unit_place at(int column, int row) {
    return {pitch_um * column, -pitch_um * row};
}

// "A" to "R" without I and Q, which arrays of 16 columns leave out; 0 for any other letter.
int column_of(char letter) {
    constexpr std::string_view columns = "ABCDEFGHJKLMNOPR";
    const std::size_t found = columns.find(letter);
    return found == std::string_view::npos ? 0 : static_cast<int>(found) + 1;
}

// The parts of a name: letters and what else precedes the number, the number, and one letter.
std::optional<unit_place> place_of_electrode(std::string_view name) {
    if (!name.empty() && name.back() >= 'a' && name.back() <= 'z') name.remove_suffix(1);
    const auto begin = static_cast<std::size_t>(
        std::ranges::find_if(name.rbegin(), name.rend(), [](char c) { return !core::is_digit(c); })
            .base() -
        name.begin());
    const std::string_view digits = name.substr(begin);
    const std::string_view before = name.substr(0, begin);
    if (digits.empty() || digits.size() > 2 || std::ranges::any_of(before, core::is_digit))
        return {};
    const int first = digits.front() - '0';
    const int last = digits.back() - '0';
    if (before.size() == 1) {
        const int column = column_of(before.front());
        const int row = digits.size() == 2 ? 10 * first + last : last;
        if (column > 0 && row >= 1 && row <= 16) return at(column, row);
    }
    const auto is_within = [](int number) { return number >= 1 && number <= 8; };
    if (digits.size() != 2 || !is_within(first) || !is_within(last)) return {};
    return at(first, last);
}

unit_places places_by(std::span<const std::string> names, auto place_of) {
    unit_places out;
    for (const std::string& name : names) {
        const std::optional<unit_place> place = place_of(name);
        if (!place) return {};
        out.emplace(name, *place);
    }
    return out;
}

std::optional<double> coordinate(std::string_view text) {
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, code] = fast_float::from_chars(text.data(), last, value);
    if (code != std::errc{} || end != last || !std::isfinite(value)) return {};
    return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view blanks = " \t,\r";
    std::vector<std::string_view> words;
    for (std::size_t from = line.find_first_not_of(blanks); from != std::string_view::npos;) {
        const std::size_t to = line.find_first_of(blanks, from);
        words.push_back(line.substr(from, to - from));
        from = line.find_first_not_of(blanks, to);
    }
    return words;
}

}  // namespace

unit_places places_of_electrodes(std::span<const std::string> names) {
    constexpr std::size_t fewest = 16;
    if (names.size() < fewest) return {};
    return places_by(names, place_of_electrode);
}

unit_places places_of_channels(std::span<const std::string> names) {
    // The electrode (column and row) of each channel of the amplifier for 60 electrodes.
    constexpr std::array<int, 60> electrodes{
        47, 48, 46, 45, 38, 37, 28, 36, 27, 17, 26, 16, 35, 25, 15, 14, 24, 34, 13, 23,
        12, 22, 33, 21, 32, 31, 44, 43, 41, 42, 52, 51, 53, 54, 61, 62, 71, 63, 72, 82,
        73, 83, 64, 74, 84, 85, 75, 65, 86, 76, 87, 77, 66, 78, 67, 68, 55, 56, 58, 57};
    return places_by(names, [&](std::string_view name) -> std::optional<unit_place> {
        std::size_t channel = 0;
        const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), channel);
        if (code != std::errc{} || end != name.data() + name.size() || channel >= electrodes.size())
            return {};
        return at(electrodes[channel] / 10, electrodes[channel] % 10);
    });
}

unit_places read_layout(const std::filesystem::path& path) {
    io::input_stream in(path);
    io::line_reader lines(in);
    unit_places out;
    for (std::string_view line; lines.next(line);) {
        const std::vector<std::string_view> words = words_of(line);
        if (words.empty() || words.front().starts_with('#')) continue;
        const auto fail = [&](std::string_view expected) {
            throw io::file_error(path, fmt::format("line {}", lines.line_number()),
                                 fmt::format("found {}, expected {}", io::shown(line), expected));
        };
        constexpr std::string_view form = "a unit, x and y in micrometres, such as \"12 200 -400\"";
        if (words.size() != 3 || !io::is_printable_utf8(words[0])) fail(form);
        const auto x = coordinate(words[1]);
        const auto y = coordinate(words[2]);
        if (!x || !y) fail(form);
        if (!out.emplace(words[0], unit_place{*x, *y}).second) fail("each unit once");
    }
    if (out.empty())
        throw io::file_error(path, "found no unit, expected a unit, x and y on each line");
    return out;
}

}  // namespace spikeweave
