#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace spikeweave {

/// Splits tasks over ranks so that the estimated costs of all ranks come out alike: the costliest
/// first, each to the rank that has least so far (longest processing time first; never more than
/// 4/3 of the best split). Every rank computes the same.
///
/// @param costs  of the tasks, in any unit, not negative.
/// @param ranks  at least 1.
/// @return for each rank its tasks, ascending.
/// @throws invalid_argument for a cost that is negative or not finite, or for no ranks.
///
/// R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969).
std::vector<std::vector<std::size_t>> balance(std::span<const double> costs, int ranks);

}  // namespace spikeweave
