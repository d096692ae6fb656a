#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sort/templates/matching.hpp"
#include "sort/templates/residual_units.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave::templates {

/// The known properties of the units when their spikes have been matched.
struct matched_units {
    const match_plan& plan;
    const template_window& window;
    std::span<const template_spike> spikes;  ///< ascending by frame
    std::span<const std::uint64_t> before;   ///< number of spikes of each unit before
    std::span<const std::uint32_t> numbers;  ///< of the units, in the table of decisions
    /// Where late units were found; null: of the first clusters.
    std::span<const std::optional<residual_traces>> found_late;
    std::span<const char> explained{};  ///< not 0 for units whose spikes others explain as well
    std::size_t channel_count = 0;      ///< of the recording
    double frame_count = 0;             ///< of the recording
    double rate_hz = 0;
    std::uint32_t least_spikes = 0;
    double detected_size = 0;  ///< spikes of this size are detected, in deviations of the noise
    bool is_last = false;      ///< templates are final: those that are too near to the noise go
    bool merge = true;  ///< otherwise units are only dropped if there is nothing left of them
};

constexpr std::uint32_t no_unit = 0xffffffff;

/// The outcome for each unit.
struct cleaned_units {
    /// Its own index if it is kept, that of the unit that takes its spikes, or `no_unit` if it is
    /// dropped.
    std::vector<std::uint32_t> fates{};
    /// Frames by which its spikes are moved, to those that the template of that unit has.
    std::vector<std::int64_t> shifts{};
};

/// Decides which units stay: those of too few spikes, sums of other units, and those whose spikes
/// are beside the spikes of larger ones are dropped; copies of another unit, and other parts of its
/// neuron, are merged with it. Late units need more spikes, because collisions of known ones look
/// like them.
/// @param decisions  those that are made are appended
cleaned_units clean_units(const matched_units& units, const execution& run,
                          std::vector<cluster_decision>& decisions);

}  // namespace spikeweave::templates
