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

/// Whose turn it is to be consumed, seen from the one who produces result i. All results before i
/// have been taken when it is its own; only then may `produce(i)` hand on a part of its result by
/// itself.
class order_turn {
public:
    order_turn() = default;
    order_turn(const order_turn&) = delete;
    order_turn& operator=(const order_turn&) = delete;
    order_turn(order_turn&&) = delete;
    order_turn& operator=(order_turn&&) = delete;
    virtual ~order_turn() = default;
    virtual bool is_own() const = 0;
    /// Until it is. @throws cancelled, and what must go through `produce` if another has failed.
    virtual void wait() const = 0;
};

/// What `for_each_in_order` is without its type: `produce(i)` leaves a result that `consume(i)`
/// takes. No i is begun before that of i - `kept` was taken.
void run_in_order(std::size_t n, std::size_t kept, const execution& run, std::string_view task,
                  const std::function<void(std::size_t, const order_turn&)>& produce,
                  const std::function<void(std::size_t)>& consume);

/// The same for results that may grow large: `produce(i, turn)` may consume parts of its result by
/// itself once the turn is its own, and returns the rest.
template <class Produce, class Consume>
void for_each_in_turn(std::size_t n, const execution& run, std::string_view task,
                      const Produce& produce, const Consume& consume) {
    using result = std::invoke_result_t<const Produce&, std::size_t, const order_turn&>;
    const std::size_t kept = results_kept(n, run);
    std::vector<std::optional<result>> results(kept);
    run_in_order(
        n, kept, run, task,
        [&](std::size_t i, const order_turn& turn) { results[i % kept].emplace(produce(i, turn)); },
        [&](std::size_t i) {
            result taken = *std::move(results[i % kept]);
            results[i % kept].reset();
            consume(i, std::move(taken));
        });
}

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
    for_each_in_turn(
        n, run, task, [&](std::size_t i, const order_turn&) { return produce(i); }, consume);
}

}  // namespace spikeweave
