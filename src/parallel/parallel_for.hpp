#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/parallel/thread_count.hpp"

namespace spikeweave {

/// Calls `body(i)` for i in [0, n) on the threads of `run`, by work stealing: pieces may differ
/// much in size. Reports progress under `task`. Throws what a body threw first, or `cancelled`.
///
/// `body` is called with no order between different i; what it writes must belong to i alone.
void parallel_for(std::size_t n, const execution& run, std::string_view task,
                  const std::function<void(std::size_t)>& body);

/// Calls `work`, whose thread takes up nothing from outside of it while a `parallel_for` in it
/// waits for its last pieces: needed where `work` holds what others wait for.
void apart(const std::function<void()>& work);

}  // namespace spikeweave
