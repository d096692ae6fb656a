#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/parallel_for.hpp"

namespace spikeweave {

/// How many results `for_each_in_order` keeps at most while an earlier one is still being made.
std::size_t results_kept(std::size_t n, const execution& run);

/// What `for_each_in_order` is without its type: `produce(i)` leaves a result that `consume(i)`
/// takes. No i is begun before that of i - `kept` was taken.
void run_in_order(std::size_t n, std::size_t kept, const execution& run, std::string_view task,
                  const std::function<void(std::size_t)>& produce,
                  const std::function<void(std::size_t)>& consume);

/// Calls `produce(i)` for i in [0, n) on the threads of `run`, begun in ascending order, and
/// `consume(i, result)` in ascending order of i, never two at once, on whichever thread finished
/// what was waited for. Reports progress under `task`. Throws what one of them threw first, or
/// `cancelled`; what was consumed until then is all before some i.
///
/// One slow piece holds back no more than `results_kept` results; whoever would be ahead of that
/// waits. `produce` and `consume` may run parallel loops of their own.
template <class Produce, class Consume>
void for_each_in_order(std::size_t n, const execution& run, std::string_view task,
                       const Produce& produce, const Consume& consume) {
    using result = std::invoke_result_t<const Produce&, std::size_t>;
    const std::size_t kept = results_kept(n, run);
    std::vector<std::optional<result>> results(kept);
    run_in_order(
        n, kept, run, task, [&](std::size_t i) { results[i % kept].emplace(produce(i)); },
        [&](std::size_t i) {
            result taken = *std::move(results[i % kept]);
            results[i % kept].reset();
            consume(i, std::move(taken));
        });
}

}  // namespace spikeweave
