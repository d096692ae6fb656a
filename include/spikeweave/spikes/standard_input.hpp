#pragma once

#include <filesystem>
#include <stop_token>
#include <string>

#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// A copy of standard input in memory, which can be read more than once, as files are: the format
/// of spikes is detected before they are read.
class SPIKEWEAVE_API held_standard_input {
public:
    /// Waits until standard input ends.
    /// @throws io_error if it is a terminal or cannot be read; cancelled.
    explicit held_standard_input(const std::stop_token& stop = {});
    /// The content of a pipe instead, which could not be read again either.
    held_standard_input(const std::filesystem::path& pipe, const std::stop_token& stop);
    ~held_standard_input();
    held_standard_input(const held_standard_input&) = delete;
    held_standard_input& operator=(const held_standard_input&) = delete;

    /// A path by which this process and its children can read the copy while it is held.
    std::string path() const;

private:
    int copy_;
};

}  // namespace spikeweave
