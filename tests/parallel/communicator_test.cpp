#include "spikeweave/parallel/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "parallel/parallel_for.hpp"
#include "parallel/ranks.hpp"
#include "spikeweave/core/error.hpp"
#include "support/ranks.hpp"

namespace spikeweave {
namespace {

// The same source runs in this process alone and on the ranks of mpirun, where each rank runs every
// test.
class Communicator : public testing::Test {
protected:
    void SetUp() override {
        if (ranks_asked_for() == "none") {
            EXPECT_THROW(mpi_ranks(), invalid_argument);
        }
        SPIKEWEAVE_NEEDS_RANKS();
        ranks = ranks_of_test();
    }

    std::shared_ptr<communicator> ranks;
};

// Makes bytes that differ by rank and position, some of them zero.
std::string bytes_of(int rank, std::size_t n) {
    std::string bytes(n, '\0');
    for (std::size_t i = 0; i < n; ++i)
        bytes[i] = static_cast<char>((i * 31 + i / 251 + static_cast<std::size_t>(rank) * 7) % 256);
    return bytes;
}

void expect_gathered(communicator& ranks, std::size_t n) {
    // The length differs by rank and is 0 on the last one.
    const auto length = [&](int rank) {
        return rank + 1 == ranks.size() && rank > 0 ? 0 : n + static_cast<std::size_t>(rank);
    };
    const auto all = ranks.gather(bytes_of(ranks.rank(), length(ranks.rank())));
    if (ranks.rank() > 0) {
        EXPECT_TRUE(all.empty());
        return;
    }
    ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks.size()));
    for (int rank = 0; rank < ranks.size(); ++rank)
        EXPECT_TRUE(all[static_cast<std::size_t>(rank)] == bytes_of(rank, length(rank)))
            << n << " bytes of rank " << rank;
}

void expect_broadcast(communicator& ranks, std::size_t n) {
    const std::string sent = ranks.rank() == 0 ? bytes_of(0, n) : "what nobody is to see";
    EXPECT_TRUE(ranks.broadcast(sent) == bytes_of(0, n)) << n << " bytes";
}

void expect_summed(communicator& ranks, std::size_t n) {
    // Values exceed 2^32, so that a 32-bit sum would fail.
    constexpr std::uint64_t large = 10'000'000'000;
    std::vector<std::uint64_t> values(n);
    for (std::size_t i = 0; i < n; ++i)
        values[i] = large + i * static_cast<std::uint64_t>(ranks.rank() + 1);
    ranks.sum(values);
    const auto size = static_cast<std::uint64_t>(ranks.size());
    for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(values[i], size * large + i * size * (size + 1) / 2) << "at " << i << " of " << n;
}

TEST_F(Communicator, KnowsItsPlace) {
    EXPECT_GE(ranks->rank(), 0);
    EXPECT_LT(ranks->rank(), ranks->size());
    EXPECT_GE(ranks->cores(), 1);
    if (ranks_asked_for() == "mpi") {
        EXPECT_EQ(ranks->size(), launched_ranks());
        EXPECT_EQ(ranks->rank(), launched_rank());
    } else {
        EXPECT_EQ(ranks->size(), 1);
    }
    EXPECT_EQ(thread_count({.threads = 3, .ranks = ranks}), 3);
    EXPECT_EQ(thread_count({.ranks = ranks}), ranks->cores());
}

TEST_F(Communicator, GathersInTheOrderOfRanks) {
    for (const std::size_t n : {0, 1, 1000, 3'000'000}) expect_gathered(*ranks, n);
}

TEST_F(Communicator, BroadcastsFromRank0) {
    for (const std::size_t n : {0, 1, 1000, 3'000'000}) expect_broadcast(*ranks, n);
}

TEST_F(Communicator, AddsUpOnEveryRank) {
    for (const std::size_t n : {0, 1, 1000, 300'000}) expect_summed(*ranks, n);
}

TEST_F(Communicator, KeepsManyCallsApart) {
    for (std::size_t n = 0; n < 100; ++n) {
        expect_broadcast(*ranks, n);
        expect_gathered(*ranks, 100 - n);
        expect_summed(*ranks, n % 7);
    }
}

// The cores of a machine are divided among its ranks.
TEST_F(Communicator, SharesTheCoresOfOneMachine) {
    std::vector<std::uint64_t> all{static_cast<std::uint64_t>(ranks->cores())};
    ranks->sum(all);
    const auto there = static_cast<std::uint64_t>(local_rank()->cores());
    EXPECT_LE(all[0], std::max(there, static_cast<std::uint64_t>(ranks->size())));
}

TEST_F(Communicator, CutsWhatIsTooLongForOneMessage) {
    if (ranks_asked_for() != "mpi") GTEST_SKIP() << "one process sends no messages";
    // 64 replaces the 2 GiB at which MPI's counts end; lengths are next to multiples of it.
    const auto cut = parallel::mpi_ranks_in_pieces(64);
    for (const std::size_t n : {0, 1, 63, 64, 65, 127, 128, 129, 10'000}) {
        expect_gathered(*cut, n);
        expect_broadcast(*cut, n);
        expect_summed(*cut, n);
    }
}

}  // namespace
}  // namespace spikeweave
