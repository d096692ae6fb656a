#include "spikeweave/core/memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <latch>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct page_counts {
    std::uint64_t mapped = 0;
    std::uint64_t resident = 0;
};

// It allocates nothing, because a guard calls it in its thread (see `shared_with_watch`).
page_counts own_pages() {
    page_counts pages;
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return pages;
    std::array<char, 128> text{};
    const ssize_t length = ::read(file, text.data(), text.size());
    ::close(file);
    const char* const end = text.data() + std::max<ssize_t>(length, 0);
    const auto [after, error] = std::from_chars(text.data(), end, pages.mapped);
    if (error == std::errc() && after != end) std::from_chars(after + 1, end, pages.resident);
    return pages;
}

std::uint64_t page_bytes() {
    const long bytes = ::sysconf(_SC_PAGESIZE);
    return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 4096;
}

// Returns no number for "max" or a missing file.
std::optional<std::uint64_t> number_in(const char* path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

std::uint64_t system_has() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::uint64_t kilobytes = 0;
    for (std::string unit; file >> name >> kilobytes; std::getline(file, unit))
        if (name == "MemAvailable:") return kilobytes * 1024;
    return no_limit;
}

std::uint64_t less(std::optional<std::uint64_t> most, std::optional<std::uint64_t> used) {
    if (!most || !used) return no_limit;
    return *most - std::min(*most, *used);
}

// Looks at both versions of control groups, where a container finds its own.
std::uint64_t group_has() {
    return std::min(
        less(number_in("/sys/fs/cgroup/memory.max"), number_in("/sys/fs/cgroup/memory.current")),
        less(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
             number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes")));
}

std::uint64_t addresses_left() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
    return less(limit.rlim_cur, own_pages().mapped * page_bytes());
}

// The address sanitizer's allocator remains locked in a helper process that is forked while another
// thread is in it. So the thread of a guard has begun when the guard is made, and allocates nothing
// afterwards.
struct shared_with_watch {
    std::latch begun{1};
    std::condition_variable_any woken{};
};

}  // namespace

std::uint64_t resident_memory_bytes() {
    return own_pages().resident * page_bytes();
}

std::uint64_t available_memory_bytes() {
    return std::min({system_has(), group_has(), addresses_left()});
}

std::string format_memory(std::uint64_t bytes) {
    const auto size = static_cast<double>(bytes);
    if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", size * 1e-9);
    if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", size * 1e-6);
    return fmt::format("{:.1f} kB", size * 1e-3);
}

memory_guard::memory_guard(std::uint64_t most, const std::stop_token& asked)
    : memory_guard(most, asked, words()) {}

memory_guard::memory_guard(std::uint64_t most, const std::stop_token& asked, words called)
    : most_(most),
      is_chosen_(most > 0),
      called_(std::move(called)),
      asked_(asked, [source = source_]() mutable { source.request_stop(); }) {
    if (!is_chosen_) {
        const std::uint64_t available = available_memory_bytes();
        most_ = available == no_limit ? no_limit : resident_memory_bytes() + available / 5 * 4;
    }
    const auto shared = std::make_shared<shared_with_watch>();
    watch_ = std::jthread([this, shared](const std::stop_token& over) {
        shared->begun.count_down();
        // A search may allocate some gigabytes a second.
        constexpr std::uint64_t most_per_ms = 10'000'000;
        std::mutex access;
        std::unique_lock lock(access);
        while (!over.stop_requested()) {
            const std::uint64_t now = resident_memory_bytes();
            if (now > most_) {
                passed_at_ = now;
                source_.request_stop();
                return;
            }
            const std::uint64_t safe_ms =
                std::clamp<std::uint64_t>((most_ - now) / most_per_ms, 2, 20);
            shared->woken.wait_for(lock, over, std::chrono::milliseconds(safe_ms),
                                   [] { return false; });
        }
    });
    shared->begun.wait();
}

std::string memory_guard::too_much() const {
    if (is_chosen_)
        return fmt::format("more than {} {} ({})", called_.bound, format_memory(most_),
                           called_.advice);
    return fmt::format(
        "more than {}, four fifths of the memory that was free ({} sets another "
        "bound; {})",
        format_memory(most_), called_.bound, called_.advice);
}

void memory_guard::check() const {
    const std::uint64_t used = std::max(passed_at_.load(), resident_memory_bytes());
    if (used > most_)
        throw invalid_argument(fmt::format("{} are in use, {}", format_memory(used), too_much()));
}

void memory_guard::expect(std::uint64_t more) const {
    check();
    const std::uint64_t needed = resident_memory_bytes() + more;
    if (needed > most_)
        throw invalid_argument(fmt::format("{} are needed, {}", format_memory(needed), too_much()));
}

}  // namespace spikeweave
