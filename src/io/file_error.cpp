#include "io/file_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "core/text.hpp"

namespace spikeweave::io {

namespace {

// Users know a result by the name that it will have, not by that of `name_aside`.
std::filesystem::path final_name(const std::filesystem::path& path) {
    constexpr std::string_view end = ".part";
    constexpr std::size_t digits = 13;
    std::filesystem::path out;
    for (const std::filesystem::path& part : path) {
        const std::string name = part.string();
        const std::size_t after = digits + 1 + end.size();  // with the dot before the digits
        const bool is_aside = name.size() > after + 1 && name.front() == '.' &&
                              name.ends_with(end) && name[name.size() - after] == '.';
        out /= is_aside ? std::filesystem::path(name.substr(1, name.size() - after - 1)) : part;
    }
    return out;
}

}  // namespace

io_error file_error(const std::filesystem::path& path, std::string_view text) {
    return io_error(fmt::format("'{}': {}", final_name(path).string(), text));
}

io_error file_error(const std::filesystem::path& path, std::string_view place,
                    std::string_view text) {
    return io_error(fmt::format("'{}', {}: {}", final_name(path).string(), place, text));
}

io_error system_error(const std::filesystem::path& path, std::string_view text) {
    return file_error(path, fmt::format("{}: {}", text, std::generic_category().message(errno)));
}

duration time_in_file(const std::filesystem::path& path, std::string_view place, double seconds) {
    constexpr double latest_s = 1e11;  // so that sums with times of spikes do not overflow
    if (!(std::abs(seconds) <= latest_s))
        throw file_error(path, place,
                         fmt::format("found {} s, expected a time within 1e11 s", seconds));
    return duration_from_seconds(seconds);
}

std::string shown(std::string_view bytes) {
    constexpr std::size_t longest = 40;
    std::string out = "'";
    for (std::size_t i = 0; i < std::min(bytes.size(), longest);) {
        const std::size_t length = core::utf8_length(bytes.substr(i));
        const std::string_view next = bytes.substr(i, std::max<std::size_t>(length, 1));
        core::append_printable(out, next);
        i += next.size();
    }
    return out + (bytes.size() > longest ? "…'" : "'");
}

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = core::utf8_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

bool is_printable_utf8(std::string_view bytes) {
    if (bytes.empty()) return false;
    while (!bytes.empty()) {
        const std::size_t length = core::utf8_length(bytes);
        if (length == 0 || !core::prints(bytes.substr(0, length))) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

}  // namespace spikeweave::io
