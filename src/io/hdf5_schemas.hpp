#pragma once

// The objects of the NWB schema that all our files contain, functions for all tables, and what
// readers of `.kwik` have in common. They throw like io/hdf5.hpp and io/hdf5_reader.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/hdf5.hpp"
#include "io/hdf5_reader.hpp"

namespace spikeweave::io::nwb {

/// Returns whether a table has a column. @throws io_error also if the table lists a column that is
/// missing, because its name is then damaged.
bool has_column(const hdf5::reader& file, const std::string& table, const std::string& column);

/// A hash of the content from which UUIDs are made, so that the same content gives the same file.
/// Not for security.
class digest {
public:
    void add(std::uint64_t word);
    void add(std::string_view text);
    /// Returns a UUID of version 8, the version for hashes.
    std::string uuid() const;

private:
    std::uint64_t halves_[2] = {0x243F6A8885A308D3, 0x13198A2E03707344};
};

/// Writes the attributes of every object of the schema; `path` makes its UUID unique.
void write_type(hid_t object, const char* name_space, const char* type, digest identity,
                std::string_view path);
/// Writes the root with the required groups. The start of the session is not known.
void write_root(hid_t file, const digest& identity, const std::string& description);

/// A table that is written column by column.
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
    /// Writes the end of each row's part of the column `target`.
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

namespace spikeweave::io {

/// Reads the sample rate of a `.kwik`, in hertz; 0 if it says none.
/// @throws io_error if it is no rate.
double read_kwik_rate(const hdf5::reader& kwik);

}  // namespace spikeweave::io
