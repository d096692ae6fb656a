#pragma once

// HDF5 files that are read, by a process apart: a damaged file that crashes libhdf5 or keeps it
// busy for ever is an io_error here. Every call may throw io_error, which names the file and the
// object, and `cancelled`; none is for two threads at once.

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

/// An open file; copies share it. Objects are named by their paths from the root, without a slash
/// before, and "" is the root.
class reader {
public:
    /// @throws io_error if it is not an HDF5 file or is damaged.
    reader(const std::filesystem::path& path, const std::stop_token& stop);

    const std::filesystem::path& path() const;
    bool exists(const std::string& object) const;
    /// Whether an object that `exists` can be opened: false for a link to what is not there.
    bool leads_somewhere(const std::string& object) const;
    /// The names in a group, in the order of bytes.
    std::vector<std::string> members(const std::string& group) const;
    /// The file that an object lies in, which is another one behind an external link.
    std::filesystem::path file_of(const std::string& object) const;
    /// A text attribute; empty if it is missing or not a single text.
    std::string text_attribute(const std::string& object, const char* name) const;
    /// All texts of an attribute; none when there is none, or it holds no texts.
    std::vector<std::string> text_attributes(const std::string& object, const char* name) const;
    /// All numbers of an attribute; nothing when there is none, or it holds no numbers.
    std::vector<double> number_attributes(const std::string& object, const char* name) const;

private:
    friend class column;
    struct connection;
    std::vector<double> numbers_of(const std::string& object, const char* name,
                                   finding& found) const;

    std::shared_ptr<connection> connection_;
};

/// A dataset of a file, in blocks of its first dimension.
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
    /// Whether its items are signed integers of two bytes.
    bool is_int16() const { return kind_ == item_kind::signed_integer && item_bytes_ == 2; }

    /// Items [begin, begin + into.size()) of a dataset with one dimension. Integers are read from
    /// integers only, and have to fit.
    void read(std::uint64_t begin, std::span<double> into) const;
    void read(std::uint64_t begin, std::span<std::int64_t> into) const;
    void read(std::uint64_t begin, std::span<std::uint64_t> into) const;
    /// Every number, rows one after another, of at most so many.
    std::vector<double> read_all(std::uint64_t most) const;
    /// Every text, of at most so many.
    std::vector<std::string> read_text(std::uint64_t most) const;
    /// Rows [begin, …) of a dataset, as many as `into` holds: what lies behind the first dimension
    /// is the row.
    void read_rows(std::uint64_t begin, std::span<std::int16_t> into) const;
    void read_rows(std::uint64_t begin, std::span<float> into) const;

    /// A text attribute; empty when there is none.
    std::string attribute(const char* name) const;
    /// A number as attribute; nothing when there is none.
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
