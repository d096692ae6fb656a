#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>

#include "fuzz/harness.hpp"
#include "io/little_endian.hpp"

namespace spikeweave::fuzz {
namespace {

constexpr std::string_view part_mark = "@@";

// Returns the position of the next "@@" at the beginning of a line, or the end.
std::size_t next_part(std::string_view bytes, std::size_t from) {
    for (std::size_t at = bytes.find(part_mark, from); at != std::string_view::npos;
         at = bytes.find(part_mark, at + 1))
        if (at == 0 || bytes[at - 1] == '\n') return at;
    return bytes.size();
}

void append_entry(std::string& out, const std::string& name, const std::string& bytes,
                  std::uint32_t crc) {
    io::append(out, std::uint16_t{20});  // version that is needed
    io::append(out, std::uint16_t{0});
    io::append(out, std::uint16_t{0});  // stored
    io::append(out, std::uint32_t{0});  // date and time
    io::append(out, crc);
    io::append(out, static_cast<std::uint32_t>(bytes.size()));
    io::append(out, static_cast<std::uint32_t>(bytes.size()));
    io::append(out, static_cast<std::uint16_t>(name.size()));
    io::append(out, std::uint16_t{0});  // extra fields
}

}  // namespace

named_bytes parts_of(std::string_view bytes) {
    named_bytes parts;
    for (std::size_t at = next_part(bytes, 0); at < bytes.size();) {
        const std::size_t end = next_part(bytes, at + 1);
        const std::string_view part =
            bytes.substr(at + part_mark.size(), end - at - part_mark.size());
        const std::size_t line = std::min(part.find('\n'), part.size());
        std::string_view content = part.substr(std::min(line + 1, part.size()));
        // The line end before the next mark belongs to the mark.
        if (end < bytes.size() && content.ends_with('\n')) content.remove_suffix(1);
        parts.emplace_back(part.substr(0, line), content);
        at = end;
    }
    return parts;
}

std::string joined(const named_bytes& parts) {
    std::string out;
    for (const auto& [name, bytes] : parts) {
        if (!out.empty()) out += '\n';
        out.append(part_mark).append(name).append(1, '\n').append(bytes);
    }
    return out;
}

void write_parts(const temporary_folder& folder, std::string_view bytes,
                 const std::vector<std::string>& names) {
    for (const std::string& name : names) std::filesystem::remove(folder.path() / name);
    for (const auto& [name, content] : parts_of(bytes))
        if (std::find(names.begin(), names.end(), name) != names.end()) folder.file(name, content);
}

std::string zip_of(const named_bytes& parts) {
    std::string out;
    std::string directory;
    for (const auto& [name, bytes] : parts) {
        const auto at = static_cast<std::uint32_t>(out.size());
        const auto crc = static_cast<std::uint32_t>(::crc32(
            0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
        out += "PK\x03\x04";
        append_entry(out, name, bytes, crc);
        out += name + bytes;
        directory += "PK\x01\x02";
        io::append(directory, std::uint16_t{20});  // version that made it
        append_entry(directory, name, bytes, crc);
        directory.append(10, '\0');  // comment, disk, attributes
        io::append(directory, at);
        directory += name;
    }
    const auto begin = static_cast<std::uint32_t>(out.size());
    out += directory;
    out += std::string("PK\x05\x06\0\0\0\0", 8);
    io::append(out, static_cast<std::uint16_t>(parts.size()));
    io::append(out, static_cast<std::uint16_t>(parts.size()));
    io::append(out, static_cast<std::uint32_t>(directory.size()));
    io::append(out, begin);
    io::append(out, std::uint16_t{0});
    return out;
}

}  // namespace spikeweave::fuzz
