#include "core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spikeweave::core {
namespace {

std::uint32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0);
    std::uint32_t code = byte(0) & (0x7FU >> character.size());
    for (std::size_t i = 1; i < character.size(); ++i) code = code << 6U | (byte(i) & 0x3FU);
    return code;
}

// Returns false for code points that a terminal, a line or XML interprets in another way.
bool is_printable(std::uint32_t code) {
    const auto is_in = [code](std::uint32_t first, std::uint32_t last) {
        return code >= first && code <= last;
    };
    const bool control = code < 0x20 || is_in(0x7F, 0x9F);
    const bool ends_line = is_in(0x2028, 0x2029);
    const bool turns_text =
        code == 0x61C || is_in(0x200E, 0x200F) || is_in(0x202A, 0x202E) || is_in(0x2066, 0x2069);
    const bool no_character = (code & 0xFFFEU) == 0xFFFEU || is_in(0xFDD0, 0xFDEF);
    return !(control || ends_line || turns_text || no_character);
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view blanks) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; (end = text.find(by)) != std::string_view::npos;) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + by.size());
    }
    parts.push_back(text);
    return parts;
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

std::string milliseconds(duration d) {
    return fmt::format("{}", static_cast<double>(d.count()) / 1000);
}

std::string pattern_text(std::vector<std::pair<duration, std::string_view>> spikes) {
    std::ranges::stable_sort(spikes, {}, &std::pair<duration, std::string_view>::first);
    std::string out;
    duration before{0};
    for (const auto& [now, name] : spikes) {
        if (!out.empty())
            out += now == before ? " + " : fmt::format(" →{}ms→ ", milliseconds(now - before));
        out += name;
        before = now;
    }
    return out;
}

std::string listed(std::span<const std::string> texts) {
    constexpr std::size_t most = 5;
    const auto first = texts.first(std::min(texts.size(), most));
    return fmt::format("{}{}", fmt::join(first, ", "),
                       texts.size() > most ? fmt::format(" and {} more", texts.size() - most) : "");
}

void check_given_time(std::string_view what, duration given, std::vector<std::string>& warnings) {
    constexpr duration suspect = std::chrono::seconds{1};
    if (given >= suspect)
        warnings.push_back(fmt::format("{} {} long: were milliseconds given for seconds?", what,
                                       format_duration(given)));
}

std::size_t utf8_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    // Overlong forms, surrogates and code points above U+10FFFF are invalid.
    const unsigned second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
        return 0;
    return length;
}

bool prints(std::string_view character) {
    return is_printable(code_point(character));
}

void append_printable(std::string& out, std::string_view character) {
    if (utf8_length(character) == character.size() && prints(character)) {
        out += character;
        return;
    }
    for (const char c : character)
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
}

std::string printable_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::string_view next = text.substr(0, std::max<std::size_t>(utf8_length(text), 1));
        if (next == "\n" || next == "\t")
            out += next;
        else
            append_printable(out, next);
        text.remove_prefix(next.size());
    }
    return out;
}

std::string plural(std::uint64_t n, std::string_view one, std::string_view many) {
    return grouped(n) + " " + std::string(n == 1 ? one : many);
}

}  // namespace spikeweave::core
