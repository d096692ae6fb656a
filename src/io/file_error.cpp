#include "io/file_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace spikeweave::io {
namespace {

// How many bytes the UTF-8 character at the front takes; 0 when it is not one.
std::size_t utf8_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    // Overlong forms, surrogates and what lies beyond U+10FFFF.
    const unsigned second = byte(1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
        return 0;
    return length;
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
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (length == 0 || byte < 0x20 || byte == 0x7F) {
            out += fmt::format("\\x{:02x}", byte);
            ++i;
        } else {
            out += bytes.substr(i, length);
            i += length;
        }
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
    return !bytes.empty() && is_utf8(bytes) && std::none_of(bytes.begin(), bytes.end(), [](char c) {
        return (c >= 0 && c < 0x20) || c == 0x7F;
    });
}

}  // namespace spikeweave::io
