#include "parallel/parallel_for.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

TEST(ParallelFor, DoesEveryPieceOnceOnAnyNumberOfThreads) {
    for (const int threads : {1, 2, 4}) {
        std::vector<int> done(1000);
        parallel::parallel_for(done.size(), {.threads = threads}, "work",
                               [&](std::size_t i) { ++done[i]; });
        EXPECT_EQ(done, std::vector<int>(1000, 1)) << threads;
    }
}

TEST(ParallelFor, HandsOnWhatAPieceThrew) {
    for (const int threads : {1, 4})
        EXPECT_THROW(parallel::parallel_for(100, {.threads = threads}, "work",
                                            [](std::size_t i) {
                                                if (i == 50) throw std::runtime_error("piece 50");
                                            }),
                     std::runtime_error);
}

TEST(ParallelFor, StopsWhenAsked) {
    for (const int threads : {1, 4}) {
        std::stop_source source;
        std::atomic<int> done{0};
        EXPECT_THROW(
            parallel::parallel_for(
                1'000'000, {.threads = threads, .on_progress = {}, .stop = source.get_token()},
                "work",
                [&](std::size_t) {
                    if (++done == 10) source.request_stop();
                }),
            cancelled);
        EXPECT_LT(done, 1000);
    }
}

TEST(ParallelFor, ReportsNeverTwiceAtOnceAndNeverBeyondTheTotal) {
    int reports = 0;  // deliberately not atomic
    parallel::parallel_for(5000,
                           {.threads = 4,
                            .on_progress =
                                [&](const progress_report& p) {
                                    ++reports;
                                    EXPECT_LE(p.done, p.total);
                                    EXPECT_EQ(p.task, "work");
                                }},
                           "work", [](std::size_t) {});
    EXPECT_GT(reports, 0);
}

TEST(ParallelFor, ReportsThatItBegins) {
    for (const int threads : {1, 4}) {
        std::atomic<bool> has_begun = false;
        parallel::parallel_for(
            100, {.threads = threads, .on_progress = [&](const auto&) { has_begun = true; }},
            "work", [&](std::size_t) { EXPECT_TRUE(has_begun); });
    }
}

TEST(OnOwnThreads, RunsAllCallsAtOnce) {
    std::latch all(4);
    parallel::on_own_threads(4, [&](std::size_t) { all.arrive_and_wait(); });
    EXPECT_TRUE(all.try_wait());
    parallel::on_own_threads(0, [](std::size_t) { FAIL(); });
}

TEST(OnOwnThreads, WaitsForAllAndThrowsTheFirstException) {
    std::atomic<int> done{0};
    try {
        parallel::on_own_threads(5, [&](std::size_t i) {
            ++done;
            if (i == 1 || i == 3) throw std::runtime_error(std::to_string(i));
        });
        FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "1");
    }
    EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace spikeweave
