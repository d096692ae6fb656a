#include "memory_guard.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "output.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

void watch(const std::stop_token& over, std::uint64_t most, const std::stop_source& source) {
    constexpr std::chrono::milliseconds between_looks{20};
    std::mutex access;
    std::condition_variable_any woken;
    std::unique_lock lock(access);
    while (!over.stop_requested() && peak_memory_bytes() <= most)
        woken.wait_for(lock, over, between_looks, [] { return false; });
    if (!over.stop_requested()) source.request_stop();
}

}  // namespace

memory_guard::memory_guard(std::uint64_t most, const std::stop_token& asked)
    : most_(most), asked_(asked, [source = source_]() mutable { source.request_stop(); }) {
    if (most > 0)
        watch_ = std::jthread(
            [most, source = source_](const std::stop_token& over) { watch(over, most, source); });
}

void memory_guard::check() const {
    const std::uint64_t used = peak_memory_bytes();
    if (most_ > 0 && used > most_)
        throw invalid_argument(fmt::format(
            "{} are in use, more than --max-memory {} (a larger --min-occ gives fewer patterns)",
            memory_text(used), memory_text(most_)));
}

}  // namespace spikeweave::cli
