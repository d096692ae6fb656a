#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include "spikeweave/parallel/communicator.hpp"

/// What CTest says of the ranks that this test runs on: `mpi`, `none` where MPI was left out of the
/// build, empty where the test was started by itself.
inline std::string_view ranks_asked_for() {
    const char* const set = std::getenv("SPIKEWEAVE_TEST_RANKS");
    return set == nullptr ? "" : set;
}

/// The ranks that this test was started on: those of MPI, or this process alone.
inline std::shared_ptr<spikeweave::communicator> ranks_of_test() {
    return ranks_asked_for() == "mpi" ? spikeweave::mpi_ranks() : spikeweave::local_rank();
}

/// Shows the test as skipped where it was asked to run on ranks and MPI was left out of the build.
#define SPIKEWEAVE_NEEDS_RANKS() \
    if (ranks_asked_for() == "none") GTEST_SKIP() << "built without MPI (SPIKEWEAVE_MPI)"
