#pragma once

#include <string>
#include <vector>

#include "report/several.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::report {

/// The data of the page that compares results of `spade`, as docs/formats.md describes them.
/// Patterns are the same if they have the same units and lags in bins. Where one was not found, it
/// is counted in the spikes.
/// @param is_series  whether a result is compared with the one before it, not with the first one
/// @throws invalid_argument if the bins differ or there are only windows; json::exception if
/// something is missing; cancelled.
std::string several_patterns_data(std::vector<named_result> results, bool is_series, double alpha,
                                  const execution& run);

}  // namespace spikeweave::report
