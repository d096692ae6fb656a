#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spikeweave::parallel {

/// Divides tasks among ranks so that their estimated costs are about equal: the most expensive task
/// is first, and each is assigned to the rank with the lowest cost so far (longest processing time
/// first; never more than 4/3 of the best division). Every rank computes the same result.
///
/// @param costs  costs of the tasks in any unit, not negative.
/// @param ranks  number of ranks, at least 1.
/// @return the tasks of each rank, ascending.
/// @throws invalid_argument if a cost is negative or not finite, or if there are no ranks.
///
/// R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969).
std::vector<std::vector<std::size_t>> balance(std::span<const double> costs, int ranks);

}  // namespace spikeweave::parallel
