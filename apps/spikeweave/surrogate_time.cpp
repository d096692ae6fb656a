#include "surrogate_time.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "spikeweave/core/error.hpp"

namespace spikeweave::cli {
namespace {

void wait(const std::stop_token& over, const std::stop_source& source) {
    constexpr std::chrono::seconds most{10};
    std::mutex access;
    std::condition_variable_any woken;
    std::unique_lock lock(access);
    woken.wait_for(lock, over, most, [] { return false; });
    if (!over.stop_requested()) source.request_stop();
}

}  // namespace

tried_time try_once(const std::function<void(std::stop_token)>& work,
                    const std::stop_token& asked) {
    using clock = std::chrono::steady_clock;
    std::stop_source source;
    const std::stop_callback both(asked, [source]() mutable { source.request_stop(); });
    const std::jthread timer([source](const std::stop_token& over) { wait(over, source); });
    const clock::time_point began = clock::now();
    tried_time tried;
    try {
        work(source.get_token());
    } catch (const cancelled&) {
        if (asked.stop_requested()) throw;
        tried.at_least = true;
    }
    tried.seconds = std::chrono::duration<double>(clock::now() - began).count();
    return tried;
}

}  // namespace spikeweave::cli
