#include "bindings/core/call.hpp"

#include <nanobind/stl/string.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "spikeweave/core/error.hpp"
#include "spikeweave/core/memory.hpp"

namespace spikeweave::python {
namespace {

using std::chrono_literals::operator""ms;

struct news {
    std::string task{};
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

// The two threads tell each other of progress and of the end.
class conversation {
public:
    void note(const progress_report& now) {
        const std::lock_guard lock(guard_);
        news_ = news{std::string(now.task), now.done, now.total};
    }

    void finish(std::exception_ptr error) {
        const std::lock_guard lock(guard_);
        error_ = std::move(error);
        is_over_ = true;
        finished_.notify_one();
    }

    // Waits for a moment, and returns whether the work is over.
    bool wait() {
        constexpr auto patience = 50ms;
        std::unique_lock lock(guard_);
        return finished_.wait_for(lock, patience, [this] { return is_over_; });
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    void report_to(const nb::object& listener) {
        std::optional<news> latest;
        {
            const std::lock_guard lock(guard_);
            latest.swap(news_);
        }
        if (latest) listener(latest->task, latest->done, latest->total);
    }

private:
    std::mutex guard_;
    std::condition_variable finished_;
    bool is_over_ = false;
    std::exception_ptr error_;
    std::optional<news> news_;
};

// A daemon thread must not ask for the lock of an interpreter that ends: it would be ended in the
// middle of destructors. It waits for the process to end instead, as Python 3.14 has it.
template <class GiveUp>
void park_if_ending(GiveUp give_up) {
    if (!_Py_IsFinalizing()) return;
    give_up();
    constexpr auto long_time = std::chrono::hours{1};
    while (true) std::this_thread::sleep_for(long_time);
}

}  // namespace

void run_unlocked(const call_options& how, const std::function<void(const execution&)>& work) {
    const bool reports = !how.progress.is_none();
    conversation talk;
    std::stop_source stop;
    std::optional<nb::python_error> raised;
    {
        const std::jthread worker([&] {
            std::exception_ptr error;
            try {
                const memory_guard memory(0, stop.get_token());
                try {
                    execution run{.threads = how.threads, .stop = memory.stop()};
                    if (reports) run.on_progress = [&](const auto& now) { talk.note(now); };
                    work(run);
                } catch (const cancelled&) {
                    memory.check();
                    throw;
                }
            } catch (...) {
                error = std::current_exception();
            }
            talk.finish(std::move(error));
        });
        const nb::gil_scoped_release unlocked;
        const auto give_up = [&stop] { stop.request_stop(); };
        while (!talk.wait()) {
            park_if_ending(give_up);
            const nb::gil_scoped_acquire locked;
            if (raised) continue;
            try {
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                if (reports) talk.report_to(how.progress);
            } catch (const nb::python_error& error) {
                raised.emplace(error);
                stop.request_stop();
            }
        }
        park_if_ending(give_up);
    }
    if (raised) throw nb::python_error(*raised);
    if (reports) talk.report_to(how.progress);
    talk.rethrow();
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
