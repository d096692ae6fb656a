#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/parallel/communicator.hpp"

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

std::size_t write_some_to_stdout(std::string_view text) {
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, 0) == 0) return 0;
    struct stat about {};
    // A pipe that is ready has room for as much as this.
    if (::fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode))
        text = text.substr(0, PIPE_BUF);
    write_stdout(text);
    return text.size();
}

void write_stderr(std::string_view text) noexcept {
    static_cast<void>(write_all(STDERR_FILENO, text));
}

bool draws(int descriptor) {
    const char* const terminal = std::getenv("TERM");
    return ::isatty(descriptor) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool shows_colour(int descriptor) {
    const char* const none = std::getenv("NO_COLOR");
    // mpirun gives its ranks a terminal, even a single one, wherever it passes their output on to.
    return std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && launched_ranks() == 1 &&
           draws(descriptor) && (none == nullptr || *none == '\0');
}

std::string styled(int descriptor, const fmt::text_style& style, std::string_view text) {
    return shows_colour(descriptor) ? fmt::format(style, "{}", text) : std::string(text);
}

std::string with_names_between_styles(std::string_view styled) {
    std::string out;
    while (!styled.empty()) {
        const std::size_t begin = std::min(styled.find('\x1b'), styled.size());
        out += with_command_line_names(styled.substr(0, begin));
        styled.remove_prefix(begin);
        const std::size_t end = styled.find('m');
        const std::size_t style = end == std::string_view::npos ? styled.size() : end + 1;
        out += styled.substr(0, style);
        styled.remove_prefix(style);
    }
    return out;
}

std::string json_document(std::initializer_list<std::pair<const char*, json_value>> members) {
    nlohmann::ordered_json document;
    for (const auto& member : members)
        std::visit([&](const auto& one) { document[member.first] = one; }, member.second);
    // A path may have any bytes.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    return document.dump(2, ' ', false, replace) + "\n";
}

std::string one_document(std::string json) {
    if (!json.ends_with('\n')) json += '\n';
    return json;
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
    return text;
}

}  // namespace spikeweave::cli
