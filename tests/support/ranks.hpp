#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "spikeweave/parallel/communicator.hpp"

/// The value that CTest sets for the ranks of this test: `mpi`, `none` if the build has no MPI,
/// empty if the test was not started by CTest.
inline std::string_view ranks_asked_for() {
    const char* const set = std::getenv("SPIKEWEAVE_TEST_RANKS");
    return set == nullptr ? "" : set;
}

/// The ranks that this test was started on: those of MPI, or this process alone.
inline std::shared_ptr<spikeweave::communicator> ranks_of_test() {
    return ranks_asked_for() == "mpi" ? spikeweave::mpi_ranks() : spikeweave::local_rank();
}

/// Skips a test that needs ranks if the build has no MPI.
#define SPIKEWEAVE_NEEDS_RANKS() \
    if (ranks_asked_for() == "none") GTEST_SKIP() << "built without MPI (SPIKEWEAVE_MPI)"
