#include "call.hpp"

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

// What the two threads tell each other.
class conversation {
public:
    execution worker_side(int threads, std::stop_token stop, bool reports) {
        execution run{.threads = threads, .stop = std::move(stop)};
        if (reports) run.on_progress = [this](const spikeweave::progress& now) { note(now); };
        return run;
    }

    void finish(std::exception_ptr error) {
        const std::lock_guard lock(guard_);
        error_ = std::move(error);
        done_ = true;
        finished_.notify_one();
    }

    // Whether the work is over.
    bool wait() {
        constexpr auto patience = 50ms;
        std::unique_lock lock(guard_);
        return finished_.wait_for(lock, patience, [this] { return done_; });
    }

    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    void report_to(const nb::object& progress) {
        std::string task;
        std::uint64_t done = 0;
        std::uint64_t total = 0;
        {
            const std::lock_guard lock(guard_);
            if (!is_new_) return;
            is_new_ = false;
            task = task_;
            done = done_pieces_;
            total = total_;
        }
        progress(task, done, total);
    }

private:
    void note(const spikeweave::progress& now) {
        const std::lock_guard lock(guard_);
        if (task_ != now.task) task_ = now.task;
        done_pieces_ = now.done;
        total_ = now.total;
        is_new_ = true;
    }

    std::mutex guard_;
    std::condition_variable finished_;
    bool done_ = false;
    std::exception_ptr error_;
    bool is_new_ = false;
    std::string task_;
    std::uint64_t done_pieces_ = 0;
    std::uint64_t total_ = 0;
};

// A daemon thread must not ask for the lock of an interpreter that ends: it would be ended in the
// middle of destructors. It waits for the process to end instead, as Python 3.14 has it.
void park_if_ending(std::stop_source& stop) {
    if (!_Py_IsFinalizing()) return;
    stop.request_stop();
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
                    work(talk.worker_side(how.threads, memory.stop(), reports));
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
        while (!talk.wait()) {
            park_if_ending(stop);
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
        park_if_ending(stop);
    }
    if (raised) throw nb::python_error(*raised);
    if (reports) talk.report_to(how.progress);
    talk.rethrow();
}

}  // namespace spikeweave::python
