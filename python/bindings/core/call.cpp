#include "bindings/core/call.hpp"

#include <chrono>
#include <future>
#include <thread>
#include <tuple>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::python {
namespace {

constexpr std::chrono::milliseconds patience{50};

// The latest progress and the estimate, which the thread that works notes for the one that called
// it.
class progress_news {
public:
    void note(const progress_report& now) {
        const std::lock_guard lock(guard_);
        latest_ = {std::string(now.task), now.done, now.total};
    }

    void note_estimate(std::string_view text) {
        const std::lock_guard lock(guard_);
        estimate_ = text;
    }

    void tell(const call_options& listeners) {
        std::unique_lock lock(guard_);
        const auto latest = std::exchange(latest_, std::nullopt);
        const auto estimate = std::exchange(estimate_, std::nullopt);
        lock.unlock();
        if (estimate) listeners.estimate(*estimate);
        if (latest) std::apply(listeners.progress, *latest);
    }

private:
    std::mutex guard_;
    std::optional<std::tuple<std::string, std::uint64_t, std::uint64_t>> latest_;
    std::optional<std::string> estimate_;
};

void work_within_memory(const std::function<void(const execution&)>& work, execution run) {
    const memory_guard memory(0, run.stop);
    run.stop = memory.stop();
    try {
        work(run);
    } catch (const cancelled&) {
        memory.check();
        throw;
    }
}

// A daemon thread must not ask for the lock of an interpreter that ends: it would be ended in the
// middle of destructors. It waits for the process to end instead, as Python 3.14 has it.
template <class GiveUp>
void park_if_ending(GiveUp give_up) {
    if (Py_IsInitialized() != 0) return;  // it is not, as soon as it ends
    give_up();
    constexpr auto long_time = std::chrono::hours{1};
    while (true) std::this_thread::sleep_for(long_time);
}

}  // namespace

void run_unlocked(const std::function<void(const execution&)>& work, const call_options& options) {
    progress_news news;
    std::stop_source stop;
    execution run{.threads = options.threads, .stop = stop.get_token()};
    if (!options.progress.is_none()) run.on_progress = [&](const auto& now) { news.note(now); };
    if (!options.estimate.is_none())
        run.on_estimate = [&](std::string_view text) { news.note_estimate(text); };
    std::packaged_task<void()> task([&] { work_within_memory(work, run); });
    std::future<void> result = task.get_future();
    std::optional<nb::python_error> raised;
    {
        const std::jthread worker(std::ref(task));
        const nb::gil_scoped_release unlocked;
        const auto give_up = [&stop] { stop.request_stop(); };
        while (result.wait_for(patience) != std::future_status::ready) {
            park_if_ending(give_up);
            const nb::gil_scoped_acquire locked;
            if (raised) continue;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                news.tell(options);
            } catch (const nb::python_error& error) {
                raised.emplace(error);
                stop.request_stop();
            }
        }
        park_if_ending(give_up);
    }
    if (raised) throw nb::python_error(*raised);
    news.tell(options);
    result.get();
}

void wait_unlocked(const std::function<bool()>& look, const std::function<void()>& give_up) {
    for (;;) {
        {
            const nb::gil_scoped_release unlocked;
            const bool is_over = look();
            park_if_ending(give_up);
            if (is_over) return;
        }
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
}

}  // namespace spikeweave::python
