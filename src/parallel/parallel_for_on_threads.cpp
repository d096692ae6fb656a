#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/stop.hpp"
#include "parallel/parallel_for.hpp"
#include "spikeweave/parallel/communicator.hpp"

// Linked instead of parallel_for.cpp for the thread sanitizer, which cannot see how Debian's libtbb
// orders its tasks. It would report every task as a race, and a suppression wide enough for that
// would hide our own races.
namespace spikeweave {

int thread_count(const execution& run) {
    if (run.threads > 0) return run.threads;
    if (run.ranks) return run.ranks->cores();
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace parallel {

void parallel_for(std::size_t n, const execution& run, std::string_view task,
                  const std::function<void(std::size_t)>& body) {
    core::throw_if_stopped(run.stop);
    if (run.on_progress && n > 0) run.on_progress({task, 0, n});
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    std::mutex reporting;
    std::mutex failing;
    std::exception_ptr failure;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < n; i = next++) {
                core::throw_if_stopped(run.stop);
                body(i);
                const std::size_t now = ++done;
                if (!run.on_progress) continue;
                if (const std::unique_lock lock(reporting, std::try_to_lock); lock)
                    run.on_progress({task, now, n});
            }
        } catch (...) {
            const std::scoped_lock lock(failing);
            if (!failure) failure = std::current_exception();
            next = n;
        }
    };
    std::vector<std::jthread> workers;
    for (int i = 1; i < thread_count(run); ++i) workers.emplace_back(work);
    work();
    workers.clear();
    if (failure) std::rethrow_exception(failure);
}

// Each loop has its own threads here, which take on no other work.
void isolate(const std::function<void()>& work) {
    work();
}

}  // namespace parallel

}  // namespace spikeweave
