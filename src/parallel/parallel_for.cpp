#include "parallel/parallel_for.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <map>
#include <mutex>

#include "core/stop.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {

namespace {

// Keeps one arena for each number of threads, because waking the workers again for every loop costs
// short searches a tenth of their time.
tbb::task_arena& workers(int threads) {
    // By default TBB starts no more workers than there are cores. Tests for races on a small
    // machine ask for more.
    constexpr std::size_t most = 1024;
    static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, most);
    static std::mutex access;
    static std::map<int, tbb::task_arena> arenas;
    const std::lock_guard lock(access);
    return arenas.try_emplace(threads, threads).first->second;
}

// Whether this thread works inside `apart`. Its loops pass this on to their other threads.
thread_local bool is_apart = false;

class being_apart {
public:
    explicit being_apart(bool now) : before_(is_apart) { is_apart = now; }
    ~being_apart() { is_apart = before_; }
    being_apart(const being_apart&) = delete;
    being_apart& operator=(const being_apart&) = delete;

private:
    bool before_;
};

}  // namespace

int thread_count(const execution& run) {
    if (run.threads > 0) return run.threads;
    return run.ranks ? run.ranks->cores() : tbb::info::default_concurrency();
}

namespace parallel {

void parallel_for(std::size_t n, const execution& run, std::string_view task,
                  const std::function<void(std::size_t)>& body) {
    core::throw_if_stopped(run.stop);
    if (run.on_progress && n > 0) run.on_progress({task, 0, n});
    std::atomic<std::size_t> done{0};
    std::mutex reporting;
    const auto finished_one = [&] {
        const std::size_t now = ++done;
        if (!run.on_progress) return;
        // A thread that finds the reporter busy does not wait: the work matters more than a report.
        if (const std::unique_lock lock(reporting, std::try_to_lock); lock)
            run.on_progress({task, now, n});
    };
    const int threads = thread_count(run);
    if (threads == 1) {
        for (std::size_t i = 0; i < n; ++i) {
            core::throw_if_stopped(run.stop);
            body(i);
            finished_one();
        }
        return;
    }
    const bool inside_apart = is_apart;
    const auto some = [&](const tbb::blocked_range<std::size_t>& range) {
        const being_apart here(inside_apart);
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
            core::throw_if_stopped(run.stop);
            body(i);
            finished_one();
        }
    };
    const auto all = [&] { tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, 1), some); };
    // An arena does not keep its caller's isolation, so isolation happens here and not in `apart`.
    workers(threads).execute([&] {
        if (inside_apart) {
            tbb::this_task_arena::isolate(all);
        } else {
            all();
        }
    });
}

void isolate(const std::function<void()>& work) {
    const being_apart here(true);
    work();
}

}  // namespace parallel

}  // namespace spikeweave
