#include "parallel/ordered_for.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

using namespace std::chrono_literals;

std::vector<std::size_t> first(std::size_t n) {
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

class OrderedFor : public testing::TestWithParam<int> {
protected:
    execution run() const { return {.threads = GetParam()}; }
};

TEST_P(OrderedFor, TakesEveryResultOnceAndInOrder) {
    for (const std::size_t n : {0, 1, 2, 15, 16, 17, 1000}) {
        std::vector<std::size_t> taken;  // not guarded: consume is never called concurrently
        parallel::for_each_in_order(
            n, run(), "work", [](std::size_t i) { return std::to_string(i); },
            [&](std::size_t i, const std::string& text) {
                EXPECT_EQ(text, std::to_string(i));
                taken.push_back(i);
            });
        EXPECT_EQ(taken, first(n));
    }
}

TEST_P(OrderedFor, HandsOverWhatCanOnlyBeMoved) {
    std::size_t sum = 0;
    parallel::for_each_in_order(
        100, run(), "work", [](std::size_t i) { return std::make_unique<std::size_t>(i); },
        [&](std::size_t, std::unique_ptr<std::size_t> taken) { sum += *taken; });
    EXPECT_EQ(sum, 4950U);
}

TEST_P(OrderedFor, BeginsInOrderAndKeepsFewResults) {
    const std::size_t kept = parallel::results_kept(2000, run());
    std::atomic<std::size_t> begun{0};
    std::atomic<std::size_t> consumed{0};
    std::atomic<std::size_t> furthest{0};
    parallel::for_each_in_order(
        2000, run(), "work",
        [&](std::size_t i) {
            // Piece 3 is slow, so the others stop before it.
            if (i == 3) std::this_thread::sleep_for(50ms);
            const std::size_t ahead = i - consumed;
            if (ahead > furthest) furthest = ahead;
            ++begun;
            return i;
        },
        [&](std::size_t i, std::size_t) { consumed = i + 1; });
    EXPECT_EQ(begun, 2000U);
    // `consumed` is updated before the next pieces start.
    EXPECT_LE(furthest, kept);
}

TEST_P(OrderedFor, HandsOnWhatWasThrown) {
    const auto nothing = [](std::size_t, std::size_t) {};
    for (const std::size_t at : {0, 1, 500, 999}) {
        EXPECT_THROW(parallel::for_each_in_order(
                         1000, run(), "work",
                         [at](std::size_t i) {
                             if (i == at) throw std::runtime_error("produce");
                             return i;
                         },
                         nothing),
                     std::runtime_error);
        std::vector<std::size_t> taken;
        EXPECT_THROW(parallel::for_each_in_order(
                         1000, run(), "work", [](std::size_t i) { return i; },
                         [&](std::size_t i, std::size_t) {
                             if (i == at) throw std::out_of_range("consume");
                             taken.push_back(i);
                         }),
                     std::out_of_range);
        EXPECT_EQ(taken, first(at));
    }
}

TEST_P(OrderedFor, WakesThoseWhoWaitForAPieceThatFails) {
    std::size_t taken = 0;
    EXPECT_THROW(parallel::for_each_in_order(
                     10'000, run(), "work",
                     [](std::size_t i) {
                         if (i == 1) {
                             std::this_thread::sleep_for(50ms);
                             throw std::runtime_error("piece 1");
                         }
                         return i;
                     },
                     [&](std::size_t, std::size_t) { ++taken; }),
                 std::runtime_error);
    EXPECT_LE(taken, 1U);
}

TEST_P(OrderedFor, StopsWhenAsked) {
    std::stop_source source;
    std::size_t taken = 0;
    EXPECT_THROW(
        parallel::for_each_in_order(
            1'000'000, {.threads = GetParam(), .on_progress = {}, .stop = source.get_token()},
            "work", [](std::size_t i) { return i; },
            [&](std::size_t, std::size_t) {
                if (++taken == 10) source.request_stop();
            }),
        cancelled);
    EXPECT_LT(taken, 10'000U);
}

TEST_P(OrderedFor, WakesThoseWhoWaitWhenAskedToStop) {
    std::stop_source source;
    const std::stop_token stop = source.get_token();
    EXPECT_THROW(parallel::for_each_in_order(
                     10'000, {.threads = GetParam(), .on_progress = {}, .stop = stop}, "work",
                     [&](std::size_t i) {
                         if (i == 0) {
                             std::this_thread::sleep_for(50ms);
                             source.request_stop();
                         }
                         return i;
                     },
                     [](std::size_t, std::size_t) {}),
                 cancelled);
}

TEST_P(OrderedFor, MayHoldParallelLoopsAndBeHeldByOne) {
    std::vector<std::vector<std::size_t>> taken(6);
    parallel::parallel_for(taken.size(), run(), "outer", [&](std::size_t outer) {
        parallel::for_each_in_order(
            40, run(), "ordered",
            [&](std::size_t i) {
                std::atomic<std::size_t> sum{0};
                parallel::parallel_for(50, run(), "inner", [&](std::size_t k) { sum += k; });
                EXPECT_EQ(sum, 1225U);
                return i;
            },
            [&](std::size_t i, std::size_t) {
                parallel::parallel_for(4, run(), "inner", [](std::size_t) {});
                taken[outer].push_back(i);
            });
    });
    for (const auto& one : taken) EXPECT_EQ(one, first(40));
}

// A thread that waits for the last pieces of an inner loop in piece i must not start piece i + k
// meanwhile: if i + k has to wait for i, neither would ever end.
TEST_P(OrderedFor, GetsOnWhenInnerLoopsWaitForTheirLastPiece) {
    std::size_t taken = 0;
    parallel::for_each_in_order(
        1000, run(), "ordered",
        [&](std::size_t i) {
            if (i % 50 == 0) {
                parallel::parallel_for(8, run(), "inner", [&](std::size_t k) {
                    std::this_thread::sleep_for((k + 1) * 300us);
                });
            }
            return i;
        },
        [&](std::size_t, std::size_t) { ++taken; });
    EXPECT_EQ(taken, 1000U);
}

// Results have 40 numbers each; at most 5 results wait.
TEST_P(OrderedFor, TakesPartsOfAResultWhenItIsItsTurn) {
    std::vector<std::size_t> taken;
    std::atomic<std::size_t> most_held{0};
    parallel::for_each_in_turn(
        50, run(), "work",
        [&](std::size_t i, const parallel::order_turn& turn) {
            std::vector<std::size_t> held;
            for (std::size_t k = 0; k < 40; ++k) {
                held.push_back(40 * i + k);
                if (i % 3 == 0) std::this_thread::sleep_for(10us);
                if (!turn.is_own() && held.size() < 5) continue;
                turn.wait();
                EXPECT_TRUE(turn.is_own());
                taken.insert(taken.end(), held.begin(), held.end());
                most_held = std::max(most_held.load(), held.size());
                held.clear();
            }
            return held;
        },
        [&](std::size_t, const std::vector<std::size_t>& rest) {
            taken.insert(taken.end(), rest.begin(), rest.end());
        });
    EXPECT_EQ(taken, first(2000));
    EXPECT_LE(most_held, 5U);
}

TEST_P(OrderedFor, TellsWhatFailedWhereOthersWaitForTheirTurn) {
    const auto work = [&] {
        parallel::for_each_in_turn(
            50, run(), "work",
            [&](std::size_t i, const parallel::order_turn& turn) {
                if (i > 0) turn.wait();
                std::this_thread::sleep_for(2ms);
                if (i == 0) throw std::runtime_error("the disk is full");
                return i;
            },
            [](std::size_t, std::size_t) {});
    };
    for (int round = 0; round < 5; ++round) {
        try {
            work();
            FAIL();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "the disk is full");
        }
    }
}

TEST_P(OrderedFor, ReportsProgressUpToTheTotal) {
    std::uint64_t last = 0;
    parallel::for_each_in_order(
        300,
        {.threads = GetParam(),
         .on_progress =
             [&](const progress_report& now) {
                 EXPECT_EQ(now.task, "work");
                 EXPECT_EQ(now.total, 300U);
                 last = std::max(last, now.done);
             }},
        "work", [](std::size_t i) { return i; }, [](std::size_t, std::size_t) {});
    EXPECT_GT(last, 0U);
    EXPECT_LE(last, 300U);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedFor, testing::Values(1, 2, 4, 7));

}  // namespace
}  // namespace spikeweave
