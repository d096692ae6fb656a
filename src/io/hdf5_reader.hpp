#pragma once

// Reads HDF5 files in a separate process, so that a damaged file which crashes libhdf5 or keeps it
// busy for ever becomes an io_error. Every call may throw io_error, which names the file and the
// object, and `cancelled`. No object may be used by two threads at once.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "io/hdf5_server.hpp"

namespace spikeweave::io::hdf5 {

/// An open file; copies share it. Objects are named by their paths from the root without a leading
/// slash, and "" is the root.
class reader {
public:
    /// @throws io_error if it is not an HDF5 file or is damaged.
    reader(const std::filesystem::path& path, const std::stop_token& stop);

    const std::filesystem::path& path() const;
    bool exists(const std::string& object) const;
    /// Returns whether an object that `exists` can be opened; false for a link to a missing object.
    bool leads_somewhere(const std::string& object) const;
    /// Returns the names in a group in byte order.
    std::vector<std::string> members(const std::string& group) const;
    /// Returns the file that contains an object; this is another file behind an external link.
    std::filesystem::path file_of(const std::string& object) const;
    /// Returns a text attribute; empty if it is missing or not a single text.
    std::string text_attribute(const std::string& object, const char* name) const;
    /// Returns all texts of an attribute; empty if it is missing or holds no texts.
    std::vector<std::string> text_attributes(const std::string& object, const char* name) const;
    /// Returns all numbers of an attribute; empty if it is missing or holds no numbers.
    std::vector<double> number_attributes(const std::string& object, const char* name) const;

private:
    friend class column;
    struct connection;
    std::vector<double> numbers_of(const std::string& object, const char* name,
                                   finding& found) const;

    std::shared_ptr<connection> connection_;
};

/// A dataset of a file, read in blocks along its first dimension.
class column {
public:
    column(reader file, std::string path);

    std::uint64_t size() const { return shape_.empty() ? 1 : shape_.front(); }
    /// The lengths of all dimensions.
    const std::vector<std::uint64_t>& shape() const { return shape_; }
    bool is_text() const { return kind_ == item_kind::text; }
    bool is_integer() const;
    bool is_unsigned() const { return kind_ == item_kind::unsigned_integer; }
    bool is_number() const { return is_integer() || kind_ == item_kind::real; }
    /// Returns whether its items are 16-bit signed integers.
    bool is_int16() const { return kind_ == item_kind::signed_integer && item_bytes_ == 2; }

    /// Returns whether its items are 32-bit real numbers.
    bool is_float32() const { return kind_ == item_kind::real && item_bytes_ == 4; }

    /// Reads items [begin, begin + into.size()) of a dataset with one dimension. Integers are read
    /// only from integers, and have to fit.
    void read(std::uint64_t begin, std::span<double> into) const;
    void read(std::uint64_t begin, std::span<std::int64_t> into) const;
    void read(std::uint64_t begin, std::span<std::uint64_t> into) const;
    /// Reads all numbers row by row; at most `most` are allowed.
    std::vector<double> read_all(std::uint64_t most) const;
    /// Reads all texts; at most `most` are allowed.
    std::vector<std::string> read_text(std::uint64_t most) const;
    /// Reads as many rows from `begin` on as `into` holds. A row has all dimensions but the first.
    void read_rows(std::uint64_t begin, std::span<std::int16_t> into) const;
    void read_rows(std::uint64_t begin, std::span<float> into) const;

    /// Returns a text attribute; empty if there is none.
    std::string attribute(const char* name) const;
    /// Returns a numeric attribute; nullopt if there is none.
    std::optional<double> number_attribute(const char* name) const;

    [[noreturn]] void fail(const std::string& why) const;

private:
    void expect_list() const;
    template <class Item>
    void read_block(std::uint64_t begin, std::uint64_t row_items, number_kind kind,
                    std::span<Item> into) const;

    reader file_;
    std::string path_;
    std::vector<std::uint64_t> shape_{};
    item_kind kind_ = item_kind::other;
    std::uint64_t item_bytes_ = 0;
};

}  // namespace spikeweave::io::hdf5
