#pragma once

#include <exception>
#include <filesystem>
#include <mutex>

#include "io/atomic_file.hpp"
#include "io/hdf5.hpp"

namespace spikeweave::io::hdf5 {

/// Writes an HDF5 file atomically.
///
/// libhdf5 1.10 crashes at the end of the process if a file could not be written completely. So it
/// writes through our own driver, which keeps a failure to itself until `commit` throws it.
class output {
public:
    /// @param overwrite  as of `atomic_file`
    /// @throws io_error
    explicit output(const std::filesystem::path& target, bool overwrite = true);
    ~output() = default;
    output(const output&) = delete;
    output& operator=(const output&) = delete;

    hid_t get() const { return file_.get(); }
    /// Closes the file and renames it to its target.
    /// @throws io_error if anything could not be written; then the file is absent.
    void commit();

    /// The target of the driver.
    struct sink {
        atomic_file bytes;
        std::exception_ptr failure{};
    };

private:
    std::unique_lock<std::recursive_mutex> alone_ = lock_library();
    sink sink_;
    handle file_;  // closed before the sink that it writes to
};

}  // namespace spikeweave::io::hdf5
