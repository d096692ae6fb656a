#pragma once

// The HDF5 C library with handles that close themselves, and functions that write with it;
// hdf5_reader.hpp reads. Every function that writes throws io_error with the reason that the
// library gives.

#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
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

private:
    H5E_auto2_t print_ = nullptr;
    void* data_ = nullptr;
};

/// Keeps our other threads from forking while this one is in the library, whose internal lock would
/// be copied. Some builds of the library are not thread-safe, either.
std::unique_lock<std::recursive_mutex> lock_library();

/// Owns an HDF5 object and closes it.
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
    /// Closes now. Returns false if that failed, which is how a full disk may show.
    bool reset() noexcept {
        const hid_t id = std::exchange(id_, H5I_INVALID_HID);
        return id < 0 || close_(id) >= 0;
    }

private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*close_)(hid_t) = nullptr;
};

/// Returns the library's description of its last failure.
std::string last_error();

handle create_group(hid_t parent, const std::string& name);
handle text_type();
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, const std::vector<std::string>& texts);
void write_attribute(hid_t object, const std::string& name, std::int32_t value);
void write_attribute(hid_t object, const std::string& name, std::span<const std::int32_t> values);
void write_attribute(hid_t object, const std::string& name, std::span<const float> values);
/// Writes rows of two numbers.
void write_attribute(hid_t object, const std::string& name,
                     std::span<const std::array<std::int32_t, 2>> rows);
/// Creates a link to an object of another file, which need not exist.
void link_outside(hid_t parent, const std::string& name, const std::filesystem::path& file,
                  const std::string& object);
/// Writes a reference to the object at `path` of the file.
void write_reference(hid_t object, const std::string& name, const std::string& path);
handle create_dataset(hid_t parent, const std::string& name, hid_t type,
                      const std::vector<std::uint64_t>& shape);
void write_text(hid_t parent, const std::string& name, const std::string& text);
handle write_texts(hid_t parent, const std::string& name, const std::vector<std::string>& texts);
/// Writes rows [begin, begin + count) of a dataset; `type` is that of the values in memory.
void write_block(hid_t dataset, std::uint64_t begin, std::uint64_t count, hid_t type,
                 const void* values);

}  // namespace spikeweave::io::hdf5
