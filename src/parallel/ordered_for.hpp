#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parallel/parallel_for.hpp"

namespace spikeweave::parallel {

/// The number of results that `for_each_in_order` keeps at most while an earlier one is not ready.
std::size_t results_kept(std::size_t n, const execution& run);

/// Informs the producer of result i whether it is the turn of i to be consumed, that is, whether
/// all results before i have been consumed. Only then may `produce(i)` consume a part of its result
/// itself.
class order_turn {
public:
    order_turn() = default;
    order_turn(const order_turn&) = delete;
    order_turn& operator=(const order_turn&) = delete;
    virtual ~order_turn() = default;
    virtual bool is_own() const = 0;
    /// Waits for the turn of i. @throws cancelled; also an exception that `produce` must not catch,
    /// if another thread has failed.
    virtual void wait() const = 0;
};

/// The part of `for_each_in_order` that does not depend on the result's type: `produce(i)` stores a
/// result that `consume(i)` takes. No i begins before the result of i - `kept` was consumed.
void run_in_order(std::size_t n, std::size_t kept, const execution& run, std::string_view task,
                  const std::function<void(std::size_t, const order_turn&)>& produce,
                  const std::function<void(std::size_t)>& consume);

/// Does the same for results that may grow large: `produce(i, turn)` may consume parts of its
/// result itself once it is its turn, and returns the rest.
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
/// `consume(i, result)` in ascending order of i, never two at once, on the thread that finished the
/// result that was waited for. Reports progress under `task`. Throws the first exception of either,
/// or `cancelled`; the results consumed until then are all those before some i.
///
/// One slow piece holds back at most `results_kept` results; threads that get further ahead wait.
/// `produce` and `consume` may run their own parallel loops.
template <class Produce, class Consume>
void for_each_in_order(std::size_t n, const execution& run, std::string_view task,
                       const Produce& produce, const Consume& consume) {
    for_each_in_turn(
        n, run, task, [&](std::size_t i, const order_turn&) { return produce(i); }, consume);
}

}  // namespace spikeweave::parallel
