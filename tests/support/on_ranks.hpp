#pragma once

#include <functional>
#include <memory>

#include "support/ranks.hpp"
#include "support/threads_as_ranks.hpp"

/// Calls `body` on the ranks on which the test was started, or on threads in their place: on 1, 2,
/// 3 and 5.
inline void on_ranks(
    const std::function<void(int rank, std::shared_ptr<spikeweave::communicator>)>& body) {
    if (ranks_asked_for() == "mpi") {
        const auto all = ranks_of_test();
        body(all->rank(), all);
        return;
    }
    for (const int ranks : {1, 2, 3, 5}) threads_as_ranks::run(ranks, body);
}
