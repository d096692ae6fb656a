#pragma once

#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>

namespace spikeweave::io {

/// Copies what a descriptor gives to memory, and returns the descriptor of the copy.
/// @param name  of the descriptor, in messages
/// @throws io_error; cancelled
int hold(int descriptor, const std::string& name, const std::stop_token& stop);
/// The same of a pipe, also one that no program writes into yet.
int hold_pipe(const std::filesystem::path& pipe, const std::stop_token& stop);

/// A path that can be opened without waiting. A pipe that a user names as a file is read to its
/// end, into memory.
class readable_file {
public:
    /// @throws io_error; cancelled on request of `stop_waiting_for_pipes`
    explicit readable_file(std::filesystem::path path);
    ~readable_file();
    readable_file(const readable_file&) = delete;
    readable_file& operator=(const readable_file&) = delete;

    /// Can be opened as long as this exists.
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int copy_ = -1;
};

/// Opens a file that a user names, which may be a pipe. The stream is bad if it cannot be opened.
std::ifstream open_given(const std::filesystem::path& path);

/// Opens a file of a folder. The stream is bad if it cannot be opened.
/// @throws io_error if it is a pipe
std::ifstream open_found(const std::filesystem::path& path);

/// Refuses a pipe where files of a folder are expected, since nothing need ever come through it.
/// @throws io_error
void refuse_pipe(const std::filesystem::path& path);

}  // namespace spikeweave::io
