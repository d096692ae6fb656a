#include "io/zip.hpp"

#include <zlib.h>

#include "io/little_endian.hpp"

namespace spikeweave::io {
namespace {

constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t utf8_names = 0x0800;
constexpr std::uint16_t day =
    (0 << 9) | (1 << 5) | 1;  // 1 January 1980, because archives must not depend on the clock
constexpr std::size_t local_crc_at = 14;

// Appends what the local header and the directory share: from the needed version to the two sizes.
void append_common(std::string& out, const zip_entry& entry) {
    append(out, version_zip64);
    append(out, utf8_names);
    append(out, std::uint16_t{0});  // stored
    append(out, std::uint16_t{0});  // time of day
    append(out, day);
    append(out, entry.crc);
    append(out, zip::in_zip64);
    append(out, zip::in_zip64);
    append(out, static_cast<std::uint16_t>(entry.name.size()));
}

}  // namespace

void zip_writer::append_bytes(std::string_view bytes) {
    if (file_)
        file_->write(bytes);
    else
        into_->append(bytes);
}

void zip_writer::replace_bytes(std::uint64_t at, std::string_view bytes) {
    if (file_)
        file_->write_at(at, bytes);
    else
        into_->replace(at, bytes.size(), bytes);
}

void zip_writer::begin(std::string_view name) {
    end_entry();
    zip_entry& entry = entries_.emplace_back();
    entry.name = name;
    entry.header_at = size();
    std::string header;
    append(header, std::uint32_t{0x04034b50});
    append_common(header, entry);
    append(header, std::uint16_t{20});  // size of the extra field
    header += entry.name;
    append(header, std::uint16_t{1});
    append(header, std::uint16_t{16});
    append(header, std::uint64_t{0});
    append(header, std::uint64_t{0});
    append_bytes(header);
    open_ = true;
}

void zip_writer::write(std::string_view bytes) {
    if (bytes.empty()) return;  // zlib restarts the checksum if there is no address
    zip_entry& entry = entries_.back();
    entry.crc = static_cast<std::uint32_t>(
        crc32_z(entry.crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    entry.size += bytes.size();
    append_bytes(bytes);
}

void zip_writer::end_entry() {
    if (!open_) return;
    open_ = false;
    zip_entry& entry = entries_.back();
    entry.packed_size = entry.size;
    std::string crc;
    append(crc, entry.crc);
    replace_bytes(entry.header_at + local_crc_at, crc);
    std::string sizes;
    append(sizes, entry.size);
    append(sizes, entry.packed_size);
    replace_bytes(entry.header_at + zip::local_size + entry.name.size() + 4, sizes);
}

void zip_writer::finish() {
    end_entry();
    const std::uint64_t directory_at = size();
    for (const zip_entry& entry : entries_) {
        std::string record;
        append(record, std::uint32_t{0x02014b50});
        append(record, version_zip64);
        append_common(record, entry);
        append(record, std::uint16_t{28});  // size of the extra field
        append(record, std::uint16_t{0});   // comment
        append(record, std::uint16_t{0});   // disk
        append(record, std::uint16_t{0});   // internal attributes
        append(record, std::uint32_t{0});   // external attributes
        append(record, zip::in_zip64);
        record += entry.name;
        append(record, std::uint16_t{1});
        append(record, std::uint16_t{24});
        append(record, entry.size);
        append(record, entry.packed_size);
        append(record, entry.header_at);
        append_bytes(record);
    }
    const std::uint64_t end_at = size();
    const std::uint64_t count = entries_.size();
    std::string end;
    append(end, std::uint32_t{0x06064b50});
    append(end, std::uint64_t{44});  // size of the rest of this record
    append(end, version_zip64);
    append(end, version_zip64);
    append(end, std::uint32_t{0});
    append(end, std::uint32_t{0});
    append(end, count);
    append(end, count);
    append(end, end_at - directory_at);
    append(end, directory_at);
    append(end, std::uint32_t{0x07064b50});
    append(end, std::uint32_t{0});
    append(end, end_at);
    append(end, std::uint32_t{1});
    append(end, std::uint32_t{0x06054b50});
    append(end, std::uint32_t{0});
    append(end, std::uint16_t{0xFFFF});
    append(end, std::uint16_t{0xFFFF});
    append(end, zip::in_zip64);
    append(end, zip::in_zip64);
    append(end, std::uint16_t{0});
    append_bytes(end);
    if (file_) file_->finish();
    finished_ = true;
}

void zip_writer::commit() {
    if (!finished_) finish();
    if (file_) file_->commit();
}

}  // namespace spikeweave::io
