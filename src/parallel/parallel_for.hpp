#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave::parallel {

/// Calls `body(i)` for i in [0, n) on the threads of `run`, with work stealing, so pieces may
/// differ much in size. Reports progress under `task`, and that it begins. Throws the first
/// exception of a body, or `cancelled`.
///
/// The calls are in no particular order; each must write only to memory that belongs to its i.
void parallel_for(std::size_t n, const execution& run, std::string_view task,
                  const std::function<void(std::size_t)>& body);

/// Calls `work(i)` for all i in [0, n) at once, each on a thread of its own and the first on that
/// of the caller, and waits for all of them. For work that waits for a device, because the threads
/// of `parallel_for` must stay free for other work. Throws the exception of the smallest i.
void on_own_threads(std::size_t n, const std::function<void(std::size_t)>& work);

/// Calls `work` in isolation: while a `parallel_for` inside it waits for its last pieces, the
/// thread takes on no work from outside. This is needed if `work` holds something that others wait
/// for.
void isolate(const std::function<void()>& work);

}  // namespace spikeweave::parallel
