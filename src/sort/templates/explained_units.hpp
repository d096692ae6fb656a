#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sort/templates/matching.hpp"
#include "sort/templates/residual_units.hpp"
#include "sort/templates/template_traces.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::templates {

/// Units that may be no neurons.
struct tested_units {
    std::span<const template_spike> spikes;  ///< ascending by frame, that were matched by the plan
    /// Where late units were found; null: of the first clusters.
    std::span<const std::optional<residual_traces>> found_late;
    std::uint32_t least_spikes = 0;  ///< units with fewer are not tested
};

/// Whether other units explain the spikes of a unit as well. Where spikes of several neurons
/// collide, one template that is the mean of such collisions explains more than each of theirs, but
/// no more than all of these together. Late units are tested, and those with far fewer spikes than
/// one that overlaps them, because collisions are rare.
std::vector<char> find_explained_units(const template_traces& traces, const match_plan& plan,
                                       const tested_units& units, const execution& run);

}  // namespace spikeweave::templates
