#pragma once

// The HDF5 C library with handles that close themselves and failures that are io_error. Every call
// of this header may throw io_error; messages begin with the file and the object's path.

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spikeweave::io::hdf5 {

/// Keeps the library from printing its errors while this object lives.
class quiet {
public:
    quiet();
    ~quiet();
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;
    quiet(quiet&&) = delete;
    quiet& operator=(quiet&&) = delete;

private:
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// Anything of HDF5 that has to be closed.
class handle {
public:
    handle() = default;
    handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~handle() { reset(); }
    handle(handle&& other) noexcept
        : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
    handle& operator=(handle&& other) noexcept {
        reset();
        id_ = std::exchange(other.id_, H5I_INVALID_HID);
        close_ = other.close_;
        return *this;
    }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;

    hid_t get() const { return id_; }
    bool valid() const { return id_ >= 0; }
    /// Closes now; false when that failed (as when a full disk shows only then).
    bool reset() noexcept {
        const hid_t id = std::exchange(id_, H5I_INVALID_HID);
        return id < 0 || close_(id) >= 0;
    }

private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

/// A one-dimensional dataset of a file that is read, in blocks.
class column {
public:
    column(const std::filesystem::path& file, hid_t parent, std::string name);

    std::uint64_t size() const { return shape_.empty() ? 1 : shape_.front(); }
    /// The lengths of all dimensions.
    const std::vector<std::uint64_t>& shape() const { return shape_; }
    bool is_text() const;
    bool is_number() const;
    /// Items [begin, begin + into.size()) of a dataset with one dimension; numbers of any width.
    void read(std::uint64_t begin, std::span<double> into) const;
    void read(std::uint64_t begin, std::span<std::int64_t> into) const;
    void read(std::uint64_t begin, std::span<std::uint64_t> into) const;
    /// Every number, rows one after another. Only for small ones.
    std::vector<double> read_all() const;
    std::vector<std::string> read_text() const;
    /// Rows [begin, …) of a dataset with two dimensions, as many as `into` holds.
    void read_rows(std::uint64_t begin, std::span<std::int16_t> into) const;
    /// The same of a dataset with any number of dimensions, as reals: what lies behind the first
    /// dimension is the row.
    void read_rows(std::uint64_t begin, std::span<float> into) const;
    /// Whether its items are signed integers of two bytes.
    bool is_int16() const;
    /// A text attribute; empty when there is none.
    std::string attribute(const char* name) const;
    /// A number as attribute; nothing when there is none.
    std::optional<double> number_attribute(const char* name) const;

private:
    void read_block(std::uint64_t begin, std::uint64_t count, hid_t type, void* into) const;
    void read_rows(std::uint64_t begin, std::uint64_t rows, hid_t type, void* into) const;
    [[noreturn]] void fail(const std::string& why) const;

    const std::filesystem::path* file_;
    std::string name_;
    handle dataset_;
    std::vector<std::uint64_t> shape_;
};

/// @throws io_error when it is no HDF5 file or damaged.
handle open_file(const std::filesystem::path& path);
handle open_group(const std::filesystem::path& file, hid_t parent, const std::string& name);
bool exists(hid_t parent, const std::string& name);
/// The names in a group, in the order of bytes.
std::vector<std::string> members(hid_t group);
/// A text attribute of a group; empty when there is none.
std::string text_attribute(hid_t object, const char* name);
/// All numbers of an attribute; nothing when there is none, or it holds no numbers.
std::vector<double> number_attributes(hid_t object, const char* name);

/// What the library says about its last failure.
std::string last_error();

// Writing: each throws io_error naming `what` when the library refuses.
handle create_group(hid_t parent, const std::string& name);
handle text_type();
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
void write_attribute(hid_t object, const std::string& name, std::int32_t value);
void write_attribute(hid_t object, const std::string& name, std::span<const std::int32_t> values);
void write_attribute(hid_t object, const std::string& name, std::span<const float> values);
/// A link to an object of another file, which need not be there.
void link_outside(hid_t parent, const std::string& name, const std::filesystem::path& file,
                  const std::string& object);
/// A reference to the object at `path` of the file.
void write_reference(hid_t object, const std::string& name, const std::string& path);
handle create_dataset(hid_t parent, const std::string& name, hid_t type,
                      const std::vector<std::uint64_t>& shape);
void write_text(hid_t parent, const std::string& name, const std::string& text);
handle write_texts(hid_t parent, const std::string& name, const std::vector<std::string>& texts);
/// Rows [begin, begin + count) of a dataset, in the memory's own type.
void write_block(hid_t dataset, std::uint64_t begin, std::uint64_t count, hid_t type,
                 const void* values);

}  // namespace spikeweave::io::hdf5
