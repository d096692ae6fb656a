#include "io/file_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace spikeweave::io {
namespace {

// Returns the length in bytes of the UTF-8 character at the front; 0 if there is none.
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

std::uint32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0);
    std::uint32_t code = byte(0) & (0x7FU >> character.size());
    for (std::size_t i = 1; i < character.size(); ++i) code = code << 6U | (byte(i) & 0x3FU);
    return code;
}

// Returns false for code points that a terminal, a line or XML interprets in another way.
bool prints(std::uint32_t code) {
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

io_error file_error(const std::filesystem::path& path, std::string_view text) {
    return io_error(fmt::format("'{}': {}", path.string(), text));
}

io_error file_error(const std::filesystem::path& path, std::string_view place,
                    std::string_view text) {
    return io_error(fmt::format("'{}', {}: {}", path.string(), place, text));
}

io_error system_error(const std::filesystem::path& path, std::string_view text) {
    return file_error(path, fmt::format("{}: {}", text, std::generic_category().message(errno)));
}

std::string shown(std::string_view bytes) {
    constexpr std::size_t longest = 40;
    std::string out = "'";
    for (std::size_t i = 0; i < std::min(bytes.size(), longest);) {
        const std::size_t length = utf8_length(bytes.substr(i));
        const std::string_view next = bytes.substr(i, std::max<std::size_t>(length, 1));
        if (length == 0 || !prints(code_point(next)))
            for (const char c : next)
                out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += next;
        i += next.size();
    }
    return out + (bytes.size() > longest ? "…'" : "'");
}

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

bool is_printable_utf8(std::string_view bytes) {
    if (bytes.empty()) return false;
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        if (length == 0 || !prints(code_point(bytes.substr(0, length)))) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

}  // namespace spikeweave::io
