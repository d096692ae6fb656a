#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

std::string error_text(int code) {
    return std::generic_category().message(code);
}

// Returns errno, or 0 if everything was written.
int write_all(int descriptor, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t wrote = ::write(descriptor, text.data(), text.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return 0;
}

}  // namespace

void hold_standard_streams() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) != -1) continue;
        // It is opened for reading, so that writing to a closed output is still an error.
        if (::open("/dev/null", O_RDONLY) != descriptor)
            throw std::runtime_error("cannot open /dev/null in place of a closed standard stream");
    }
}

void write_stdout(std::string_view text) {
    const int code = write_all(STDOUT_FILENO, text);
    if (code == EPIPE) throw output_closed();
    if (code != 0) throw io_error("cannot write to standard output: " + error_text(code));
}

void write_stderr(std::string_view text) noexcept {
    static_cast<void>(write_all(STDERR_FILENO, text));
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

void check_output_place(const std::filesystem::path& path, bool may_replace) {
    namespace fs = std::filesystem;
    const std::string shown = path.string();
    if (path.empty()) throw io_error("the name of the output is empty");
    if (path == "-")
        throw io_error("results are not written to standard output: expected a name, found '-'");
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored)) && !may_replace)
        throw io_error(fmt::format("{} exists (--overwrite replaces it)", shown));
    // The name "out/" means the folder "out".
    const fs::path whole = fs::absolute(path).lexically_normal();
    const fs::path folder = (whole.has_filename() ? whole : whole.parent_path()).parent_path();
    if (!fs::is_directory(folder, ignored))
        throw io_error(
            fmt::format("{} cannot be written: there is no folder {}", shown, folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw io_error(
            fmt::format("{} cannot be written: {}: {}", shown, folder.string(), error_text(errno)));
}

}  // namespace spikeweave::cli
