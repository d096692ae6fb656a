#include "spikeweave/spikes/standard_input.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "io/readable_file.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

int hold_standard_input(const std::stop_token& stop) {
    if (::isatty(STDIN_FILENO) != 0)
        throw io_error("standard input is a terminal, expected spikes from a file or a pipe");
    return io::hold(STDIN_FILENO, "standard input", stop);
}

}  // namespace

held_standard_input::held_standard_input(const std::stop_token& stop)
    : copy_(hold_standard_input(stop)) {}

held_standard_input::held_standard_input(const std::filesystem::path& pipe,
                                         const std::stop_token& stop)
    : copy_(io::hold_pipe(pipe, stop)) {}

held_standard_input::~held_standard_input() {
    ::close(copy_);
}

std::string held_standard_input::path() const {
    // The path has the number of this process, because another process reads HDF5.
    return fmt::format("/proc/{}/fd/{}", ::getpid(), copy_);
}

}  // namespace spikeweave
