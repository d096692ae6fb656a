#include "io/hdf5_schemas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "io/file_error.hpp"

namespace spikeweave::io::nwb {

namespace {
constexpr auto unknown_start = "1970-01-01T00:00:00.000000+00:00";
}

bool has_column(const hdf5::reader& file, const std::string& table, const std::string& column) {
    if (file.exists(fmt::format("{}/{}", table, column))) return true;
    const auto listed = file.text_attributes(table, "colnames");
    if (std::find(listed.begin(), listed.end(), column) != listed.end())
        throw file_error(
            file.path(), "/" + table,
            fmt::format("lists a column {}, which is not there: the file is damaged", column));
    return false;
}

void digest::add(std::uint64_t word) {
    for (auto& half : halves_) {
        half = (half ^ word) * 0x9E3779B97F4A7C15U;
        half ^= half >> 32;
        word = std::rotl(word, 29) + 0xD1B54A32D192ED03U;
    }
}

void digest::add(std::string_view text) {
    for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    add(static_cast<std::uint64_t>(text.size()));
}

std::string digest::uuid() const {
    const std::uint64_t a = (halves_[0] & ~std::uint64_t{0xF000}) | 0x8000;
    const std::uint64_t b = (halves_[1] & ~(std::uint64_t{3} << 62)) | (std::uint64_t{1} << 63);
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xFFFF,
                       a & 0xFFFF, b >> 48, b & 0xFFFFFFFFFFFF);
}

void write_type(hid_t object, const char* name_space, const char* type, digest identity,
                std::string_view path) {
    identity.add(path);
    hdf5::write_attribute(object, "namespace", name_space);
    hdf5::write_attribute(object, "neurodata_type", type);
    hdf5::write_attribute(object, "object_id", identity.uuid());
}

void write_root(hid_t file, const digest& identity, const std::string& description) {
    write_type(file, "core", "NWBFile", identity, "/");
    hdf5::write_attribute(file, "nwb_version", "2.7.0");
    hdf5::write_text(file, "identifier", identity.uuid());
    hdf5::write_text(
        file, "session_description",
        description +
            " The start of the session is not known: 1970-01-01 is written instead, and "
            "times are seconds since the recording's first sample.");
    hdf5::write_text(file, "session_start_time", unknown_start);
    hdf5::write_text(file, "timestamps_reference_time", unknown_start);
    hdf5::write_texts(file, "file_create_date", {unknown_start});
    for (const char* group : {"acquisition", "analysis", "processing", "general", "stimulus"})
        hdf5::create_group(file, group);
    for (const char* group : {"stimulus/presentation", "stimulus/templates"})
        hdf5::create_group(file, group);
}

table::table(hid_t file, std::string path, const char* name_space, const char* type,
             const digest& identity, const std::string& description,
             const std::vector<std::string>& columns)
    : path_(std::move(path)), identity_(identity), group_(hdf5::create_group(file, path_)) {
    write_type(group_.get(), name_space, type, identity_, path_);
    hdf5::write_attribute(group_.get(), "description", description);
    hdf5::write_attribute(group_.get(), "colnames", columns);
}

void table::describe(const hdf5::handle& column, const char* type, const std::string& name,
                     const std::string* description) const {
    write_type(column.get(), "hdmf-common", type, identity_, path_ + "/" + name);
    if (description != nullptr) hdf5::write_attribute(column.get(), "description", *description);
}

void table::write_ids(const std::vector<std::int64_t>& ids) const {
    const hdf5::handle id = hdf5::create_dataset(group_.get(), "id", H5T_STD_I64LE, {ids.size()});
    describe(id, "ElementIdentifiers", "id", nullptr);
    hdf5::write_block(id.get(), 0, ids.size(), H5T_NATIVE_INT64, ids.data());
}

hdf5::handle table::new_column(const std::string& name, hid_t type,
                               const std::vector<std::uint64_t>& shape,
                               const char* description) const {
    hdf5::handle column = hdf5::create_dataset(group_.get(), name, type, shape);
    const std::string text = description;
    describe(column, "VectorData", name, &text);
    return column;
}

hdf5::handle table::write_texts(const std::string& name, const std::vector<std::string>& texts,
                                const char* description) const {
    hdf5::handle column = hdf5::write_texts(group_.get(), name, texts);
    const std::string text = description;
    describe(column, "VectorData", name, &text);
    return column;
}

void table::write_index(const std::string& target, const std::vector<std::uint64_t>& ends,
                        const std::string& description) const {
    const std::string name = target + "_index";
    const hdf5::handle column =
        hdf5::create_dataset(group_.get(), name, H5T_STD_U64LE, {ends.size()});
    describe(column, "VectorIndex", name, &description);
    hdf5::write_reference(column.get(), "target", path_ + "/" + target);
    hdf5::write_block(column.get(), 0, ends.size(), H5T_NATIVE_UINT64, ends.data());
}

}  // namespace spikeweave::io::nwb
