#pragma once

#include <vector>

#include "mine/assemblies/series.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/assemblies.hpp"

namespace spikeweave::assemblies {

/// All assemblies at one bin width that are not within a larger one, by size.
struct width_result {
    std::vector<assembly> assemblies{};
    std::vector<assembly_step> steps{};
};

/// @param alpha  the level, corrected for the number of bin widths
/// @throws cancelled
width_result agglomerate(const std::vector<series>& units, const layout& bins, double alpha,
                         const assembly_options& options, const execution& run);

/// Removes assemblies from those of all bin widths according to `choice`.
void choose_bins(std::vector<assembly>& all, bin_choice choice);

}  // namespace spikeweave::assemblies
