#include "live/sinks/serial_bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr std::array<std::pair<std::uint32_t, speed_t>, 10> baud_rates{{{9'600, B9600},
                                                                        {19'200, B19200},
                                                                        {38'400, B38400},
                                                                        {57'600, B57600},
                                                                        {115'200, B115200},
                                                                        {230'400, B230400},
                                                                        {460'800, B460800},
                                                                        {921'600, B921600},
                                                                        {1'000'000, B1000000},
                                                                        {2'000'000, B2000000}}};

[[noreturn]] void fail_to_open_device(const std::string& path, const std::string& problem) {
    throw io_error(fmt::format("cannot open {}: {}", path, problem));
}

// Sets the device to bytes as they are, without handshakes or a terminal's signals.
bool make_raw(int descriptor, speed_t speed) {
    termios settings{};
    if (::tcgetattr(descriptor, &settings) != 0) return false;
    ::cfmakeraw(&settings);
    settings.c_cflag |= static_cast<tcflag_t>(CLOCAL | CREAD);
    settings.c_cflag &= ~static_cast<tcflag_t>(CRTSCTS | CSTOPB);
    return ::cfsetspeed(&settings, speed) == 0 && ::tcsetattr(descriptor, TCSANOW, &settings) == 0;
}

// Neither opening nor writing waits for the other side.
int open_device(const std::string& path, std::uint32_t baud) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) fail_to_open_device(path, std::generic_category().message(errno));
    const auto* const rate =
        std::ranges::find(baud_rates, baud, &std::pair<std::uint32_t, speed_t>::first);
    if (::isatty(descriptor) == 1 && make_raw(descriptor, rate->second)) return descriptor;
    ::close(descriptor);
    fail_to_open_device(path, "it is no serial device");
}

}  // namespace

void check_baud_rate(std::uint32_t baud) {
    std::vector<std::uint32_t> known;
    known.reserve(baud_rates.size());
    for (const auto& one : baud_rates) known.push_back(one.first);
    if (std::ranges::find(known, baud) == known.end())
        throw invalid_argument(
            fmt::format("found {}, expected one of {}", baud, fmt::join(known, ", ")));
}

serial_bytes::serial_bytes(const destination& to, std::shared_ptr<delivery_report> report)
    : reaction(to, std::move(report)),
      path_(to.address),
      baud_(to.baud),
      byte_(to.byte),
      descriptor_(open_device(path_, baud_)) {}

serial_bytes::~serial_bytes() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

// Drops the bytes that a failed device has not sent, because closing would wait for them.
void serial_bytes::close() {
    ::tcflush(descriptor_, TCOFLUSH);
    ::close(std::exchange(descriptor_, -1));
}

bool serial_bytes::is_open() {
    constexpr std::chrono::seconds between_tries{1};
    if (descriptor_ >= 0) return true;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_try_) return false;
    next_try_ = now + between_tries;
    try {
        descriptor_ = open_device(path_, baud_);
    } catch (const io_error& error) {
        report().tell_trouble(error.what());
    }
    return descriptor_ >= 0;
}

void serial_bytes::react(const detection&) {
    if (!is_open()) return report().tell_lost(report().reason());
    ssize_t written = -1;
    do {
        written = ::write(descriptor_, &byte_, 1);
    } while (written < 0 && errno == EINTR);
    if (written == 1) return report().tell_delivered();
    const int code = errno;
    report().tell_lost(code == EAGAIN ? "the device takes no more bytes"
                                      : std::generic_category().message(code));
    if (code != EAGAIN) close();
}

}  // namespace spikeweave::live
