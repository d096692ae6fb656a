#pragma once

// The objects of NWB's schema that every file of ours has, and what holds for all tables.
// Throws like io/hdf5.hpp and io/hdf5_reader.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_reader.hpp"

namespace spikeweave::io::nwb {

/// Whether a table has a column. @throws io_error also when it lists one that it has not: its name
/// was damaged.
bool has_column(const hdf5::reader& file, const std::string& table, const std::string& column);

/// Names what a file holds, so that the same content gives the same file. Not for security.
class digest {
public:
    void add(std::uint64_t word);
    void add(std::string_view text);
    /// A UUID of version 8, the one for digests.
    std::string uuid() const;

private:
    std::uint64_t halves_[2] = {0x243F6A8885A308D3, 0x13198A2E03707344};
};

/// What every object of the schema carries; `path` makes its identity its own.
void write_type(hid_t object, const char* name_space, const char* type, digest identity,
                std::string_view path);
/// The root, with the groups that must be there. When the session began is not known.
void write_root(hid_t file, const digest& identity, const std::string& description);

/// A table whose columns are written one by one.
class table {
public:
    /// @param type  "Units" of "core", "DynamicTable" of "hdmf-common", …
    table(hid_t file, std::string path, const char* name_space, const char* type,
          const digest& identity, const std::string& description,
          const std::vector<std::string>& columns);

    void write_ids(const std::vector<std::int64_t>& ids) const;
    hdf5::handle new_column(const std::string& name, hid_t type,
                            const std::vector<std::uint64_t>& shape, const char* description) const;
    hdf5::handle write_texts(const std::string& name, const std::vector<std::string>& texts,
                             const char* description) const;
    /// Where each row's part of the column `target` ends.
    void write_index(const std::string& target, const std::vector<std::uint64_t>& ends,
                     const std::string& description) const;

private:
    void describe(const hdf5::handle& column, const char* type, const std::string& name,
                  const std::string* description) const;

    std::string path_;
    digest identity_;
    hdf5::handle group_;
};

}  // namespace spikeweave::io::nwb
