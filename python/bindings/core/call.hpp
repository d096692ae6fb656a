#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::python {

namespace nb = nanobind;

/// How a call from Python runs.
struct call_options {
    int threads = 0;
    /// It is called with (task, done, total), unless it is None.
    nb::object progress = nb::none();
};

/// Runs `work` on a thread of its own, without the interpreter's lock. Meanwhile the calling thread
/// hands progress on and looks for signals: after Ctrl-C the work is asked to stop, and what the
/// signal raised is thrown once it has. So is what `progress` raises.
void run_unlocked(const call_options& how, const std::function<void(const execution&)>& work);

/// Does the same with work that returns something.
template <class Work>
auto run_for_result(const call_options& how, Work work) {
    std::optional<std::invoke_result_t<Work, const execution&>> result;
    run_unlocked(how, [&](const execution& run) { result.emplace(work(run)); });
    return std::move(*result);
}

}  // namespace spikeweave::python
