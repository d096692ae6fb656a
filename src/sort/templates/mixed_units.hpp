#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/low_rank.hpp"
#include "sort/templates/template_traces.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::templates {

/// A unit with the spikes of two neurons.
struct mixed_unit {
    std::uint32_t unit = 0;
    /// The spikes of each that were examined, ascending; the first neuron has more.
    std::array<std::vector<std::uint32_t>, 2> spikes{};
    double distance = 0;  ///< of both groups of remainders, see `separation`
};

/// Finds units whose spikes leave two groups of remainders when their templates are subtracted,
/// where spikes that follow each other within a few milliseconds, as those of one neuron seldom do,
/// are in different groups more often than chance makes them, in either order. The spikes of a
/// burst, which become smaller, come in one order.
/// @param spikes   ascending by frame
/// @param filters  templates of the spikes
std::vector<mixed_unit> find_mixed_units(const template_traces& traces,
                                         std::span<const template_spike> spikes,
                                         std::span<const matched_filter> filters,
                                         const execution& run);

}  // namespace spikeweave::templates
