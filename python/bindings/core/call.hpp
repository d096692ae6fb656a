#pragma once

#include <mutex>

#include "bindings/core/values.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::python {

/// The settings with which a call from Python runs.
struct call_options {
    int threads = 0;
    /// It is called with (task, done, total), unless it is None.
    nb::object progress = nb::none();
    /// It is called with what the call will cost, if that may be long, unless it is None.
    nb::object estimate = nb::none();
};

/// Runs `work` on a separate thread, without the interpreter's lock. Meanwhile the calling thread
/// reports progress and checks for signals: after Ctrl-C the work is asked to stop, and the
/// signal's exception is thrown once it has. So is what `progress` raises.
void run_unlocked(const std::function<void(const execution&)>& work,
                  const call_options& options = {});

/// Does the same with work that returns something.
template <class Work>
auto run_for_result(Work work, const call_options& options = {}) {
    std::optional<std::invoke_result_t<Work, const execution&>> result;
    run_unlocked([&](const execution& run) { result.emplace(work(run)); }, options);
    return std::move(*result);
}

/// Calls `look` again and again, without the interpreter's lock, until it returns true. Each call
/// may wait for a moment; between two of them signals are checked, and their exceptions are thrown.
/// `give_up` is called if the interpreter ends meanwhile.
void wait_unlocked(const std::function<bool()>& look, const std::function<void()>& give_up);

/// An object that a Python object holds. Its calls release the interpreter's lock, so several
/// Python threads may call it at once.
template <class Value>
struct held {
    Value value;
    call_options call{};
    std::mutex in_use{};

    template <class Work>
    auto alone(Work work) {
        const nb::gil_scoped_release unlocked;
        const std::lock_guard lock(in_use);
        return work(value);
    }
};

}  // namespace spikeweave::python
