#pragma once

#include "sort_input.hpp"
#include "sort_options.hpp"
#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {

/// Sorts all spikes, some clusters of them, or one spike after another, as the options say. Leaves
/// labels and how they came about in `report`, and writes the model if that was asked for.
void find_units(sort_input& input, sort_options& options, sorting_report& report,
                const execution& run);

}  // namespace spikeweave::cli
