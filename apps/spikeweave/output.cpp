#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

std::string error_text(int code) {
    return std::generic_category().message(code);
}

// Returns errno, or 0 when everything was written.
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
        // Opened for reading, so that writing to a closed output is still an error.
        if (::open("/dev/null", O_RDONLY) != descriptor)
            throw std::runtime_error("cannot open /dev/null in place of a closed standard stream");
    }
}

void write_stdout(std::string_view text) {
    if (const int code = write_all(STDOUT_FILENO, text); code != 0)
        throw io_error("cannot write to standard output: " + error_text(code));
}

void write_stderr(std::string_view text) noexcept {
    static_cast<void>(write_all(STDERR_FILENO, text));
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

std::string rough_time(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string memory_text(std::uint64_t bytes) {
    const auto size = static_cast<double>(bytes);
    if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", size * 1e-9);
    if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", size * 1e-6);
    return fmt::format("{:.1f} kB", size * 1e-3);
}

std::uint64_t peak_memory_bytes() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::uint64_t physical_memory_bytes() {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long bytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

void check_output_place(const std::filesystem::path& path, bool may_replace) {
    namespace fs = std::filesystem;
    const std::string shown = path.string();
    if (path.empty()) throw io_error("the name of the output is empty");
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path, ignored)) && !may_replace)
        throw io_error(fmt::format("{} exists (--overwrite replaces it)", shown));
    // "out/" names the folder "out".
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
