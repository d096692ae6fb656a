#pragma once

#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::pipeline {

/// The devices of an analysis: those that search its surrogates; without surrogates, the one that
/// searches the data. @throws invalid_argument if ranks share that search; device_error if one does
/// not exist.
std::vector<int> devices_of(const spade_options& options, const execution& run);

/// The settings of the search of the data: on the first of these devices, unless ranks share the
/// search or it is one of FP-growth.
execution searching_data(const spade_options& options, const execution& run,
                         const std::vector<int>& devices);

/// The result of a search alone, without its patterns.
spade_result search_result(const mining_summary& found, const spade_input& prepared,
                           const spade_options& options);

}  // namespace spikeweave::pipeline
