#include "io/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "io/file_error.hpp"
#include "io/little_endian.hpp"

namespace spikeweave::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t central_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator64_signature = 0x07064b50;
constexpr std::size_t central_size = 46;
constexpr std::size_t end_size = 22;
constexpr std::size_t end64_size = 56;
constexpr std::size_t locator64_size = 20;

struct directory {
    std::uint64_t entries = 0;
    std::uint64_t size = 0;
    std::uint64_t at = 0;
};

std::vector<char> bytes_at(const random_file& file, std::uint64_t offset, std::uint64_t size) {
    // Checked before memory is allocated, because a damaged size may be huge.
    if (offset > file.size() || size > file.size() - offset)
        throw file_error(file.path(),
                         fmt::format("is cut or not a zip archive: it has {} bytes, expected {} "
                                     "more from byte {}",
                                     file.size(), size, offset));
    std::vector<char> bytes(size);
    file.read_at(offset, bytes);
    return bytes;
}

std::optional<directory> zip64_directory(const random_file& file, std::uint64_t end_at) {
    if (end_at < locator64_size) return {};
    const auto locator = bytes_at(file, end_at - locator64_size, locator64_size);
    if (load<std::uint32_t>(locator.data()) != locator64_signature) return {};
    const auto end64 = bytes_at(file, load<std::uint64_t>(locator.data() + 8), end64_size);
    if (load<std::uint32_t>(end64.data()) != end64_signature)
        throw file_error(file.path(), "the zip64 end of the archive is damaged");
    return directory{load<std::uint64_t>(end64.data() + 32), load<std::uint64_t>(end64.data() + 40),
                     load<std::uint64_t>(end64.data() + 48)};
}

// The last record, which a comment of any text may follow, holds the position of the directory.
directory find_directory(const random_file& file) {
    constexpr std::uint64_t longest_comment = 0xFFFF;
    const std::uint64_t tail_size = std::min(file.size(), end_size + longest_comment);
    const std::uint64_t tail_at = file.size() - tail_size;
    const auto tail = bytes_at(file, tail_at, tail_size);
    for (std::size_t i = tail.size() < end_size ? 0 : tail.size() - end_size + 1; i-- > 0;) {
        const char* end = tail.data() + i;
        if (load<std::uint32_t>(end) != end_signature) continue;
        if (const auto large = zip64_directory(file, tail_at + i)) return *large;
        return {load<std::uint16_t>(end + 10), load<std::uint32_t>(end + 12),
                load<std::uint32_t>(end + 16)};
    }
    throw file_error(file.path(), "is cut or not a zip archive: it has no end of archive");
}

// Sizes that do not fit into 32 bits are in the extra field with id 1, in this order. Each is
// present only if the plain field states this.
void take_zip64(zip_entry& entry, const char* extra, std::size_t extra_size) {
    while (extra_size >= 4) {
        const auto id = load<std::uint16_t>(extra);
        const std::size_t size = load<std::uint16_t>(extra + 2);
        extra += 4;
        extra_size -= 4;
        if (size > extra_size) return;
        if (id == 1) {
            std::size_t at = 0;
            for (std::uint64_t* field : {&entry.size, &entry.packed_size, &entry.header_at}) {
                if (*field != zip::in_zip64 || at + 8 > size) continue;
                *field = load<std::uint64_t>(extra + at);
                at += 8;
            }
        }
        extra += size;
        extra_size -= size;
    }
}

// The state of one entry that is being read.
struct unpacking {
    unpacking(std::shared_ptr<const random_file> from, zip_entry which)
        : file(std::move(from)), entry(std::move(which)) {}
    ~unpacking() {
        if (inflating) inflateEnd(&stream);
    }
    unpacking(const unpacking&) = delete;
    unpacking& operator=(const unpacking&) = delete;

    io_error damaged(std::string_view why) const {
        return file_error(file->path(), fmt::format("entry {}", shown(entry.name)),
                          fmt::format("is damaged: {}", why));
    }

    std::size_t read(std::span<char> into) {
        into = into.first(
            static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), entry.size - unpacked)));
        if (into.empty()) return 0;
        if (entry.method == 0) {
            file->read_at(data_at + unpacked, into);
        } else {
            inflate_into(into);
        }
        crc = static_cast<std::uint32_t>(
            crc32_z(crc, reinterpret_cast<const Bytef*>(into.data()), into.size()));
        unpacked += into.size();
        if (unpacked == entry.size && crc != entry.crc) throw damaged("its checksum is wrong");
        return into.size();
    }

    void inflate_into(std::span<char> into) {
        constexpr std::size_t most_at_once = std::size_t{1} << 30;
        std::size_t done = 0;
        while (done < into.size()) {
            if (stream.avail_in == 0) {
                const auto n = static_cast<std::size_t>(
                    std::min<std::uint64_t>(packed.size(), entry.packed_size - taken));
                file->read_at(data_at + taken, std::span{packed}.first(n));
                taken += n;
                stream.next_in = reinterpret_cast<Bytef*>(packed.data());
                stream.avail_in = static_cast<uInt>(n);
            }
            const std::size_t room = std::min(into.size() - done, most_at_once);
            stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
            stream.avail_out = static_cast<uInt>(room);
            const int code = inflate(&stream, Z_NO_FLUSH);
            done += room - stream.avail_out;
            if (code == Z_STREAM_END && done < into.size()) throw damaged("it ends too early");
            if (code != Z_OK && code != Z_STREAM_END)
                throw damaged(stream.msg != nullptr ? stream.msg : "its packed data are cut");
        }
    }

    std::shared_ptr<const random_file> file;
    zip_entry entry;
    std::uint64_t data_at = 0;
    std::uint64_t unpacked = 0;
    std::uint64_t taken = 0;
    std::uint32_t crc = 0;
    bool inflating = false;
    z_stream stream{};
    std::vector<char> packed;
};

}  // namespace

zip_reader::zip_reader(std::shared_ptr<const random_file> file) : file_(std::move(file)) {
    const std::filesystem::path& path = file_->path();
    const directory where = find_directory(*file_);
    const auto bytes = bytes_at(*file_, where.at, where.size);
    std::size_t at = 0;
    for (std::uint64_t i = 0; i < where.entries; ++i) {
        const char* record = bytes.data() + at;
        if (bytes.size() - at < central_size || load<std::uint32_t>(record) != central_signature)
            throw file_error(path, fmt::format("entry {} of its zip directory is damaged", i));
        const std::size_t name_size = load<std::uint16_t>(record + 28);
        const std::size_t extra_size = load<std::uint16_t>(record + 30);
        const std::size_t comment_size = load<std::uint16_t>(record + 32);
        const std::size_t size = central_size + name_size + extra_size + comment_size;
        if (bytes.size() - at < size)
            throw file_error(path, fmt::format("entry {} of its zip directory is cut", i));
        zip_entry& entry = entries_.emplace_back();
        entry.name.assign(record + central_size, name_size);
        entry.method = load<std::uint16_t>(record + 10);
        entry.crc = load<std::uint32_t>(record + 16);
        entry.packed_size = load<std::uint32_t>(record + 20);
        entry.size = load<std::uint32_t>(record + 24);
        entry.header_at = load<std::uint32_t>(record + 42);
        take_zip64(entry, record + central_size + name_size, extra_size);
        if ((load<std::uint16_t>(record + 8) & 1U) != 0)
            throw file_error(path, fmt::format("entry {} is encrypted", shown(entry.name)));
        at += size;
    }
}

const zip_entry* zip_reader::find(std::string_view name) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const zip_entry& entry) { return entry.name == name; });
    return found == entries_.end() ? nullptr : &*found;
}

byte_source zip_reader::open(const zip_entry& entry) const {
    const auto state = std::make_shared<unpacking>(file_, entry);
    if (entry.method != 0 && entry.method != 8)
        throw state->damaged(fmt::format(
            "it is packed by method {}, expected 0 (stored) or 8 (deflate)", entry.method));
    const auto header = bytes_at(*file_, entry.header_at, zip::local_size);
    if (load<std::uint32_t>(header.data()) != local_signature)
        throw state->damaged("it does not begin where the directory states");
    state->data_at = entry.header_at + zip::local_size + load<std::uint16_t>(header.data() + 26) +
                     load<std::uint16_t>(header.data() + 28);
    if (state->data_at > file_->size() || entry.packed_size > file_->size() - state->data_at)
        throw state->damaged("it goes beyond the end of the file");
    if (entry.method == 0 && entry.packed_size != entry.size)
        throw state->damaged("it is stored, but its two sizes differ");
    if (entry.method == 8) {
        constexpr std::size_t packed_block = std::size_t{1} << 17;
        state->packed.resize(packed_block);
        if (inflateInit2(&state->stream, -MAX_WBITS) != Z_OK)
            throw state->damaged("zlib cannot begin to unpack it");
        state->inflating = true;
    }
    return [state](std::span<char> into) { return state->read(into); };
}

}  // namespace spikeweave::io
