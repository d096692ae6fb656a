#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/low_rank.hpp"
#include "sort/templates/template_set.hpp"
#include "sort/templates/template_traces.hpp"
#include "sort/templates/unit_template.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/sort/templates.hpp"

namespace spikeweave::templates {

/// Units whose spikes are subtracted.
struct subtracted_units {
    std::span<const template_spike> spikes{};  ///< ascending by frame
    std::span<const matched_filter> filters{};
};

/// The traces in which remaining spikes are searched for.
enum class residual_traces : std::uint8_t {
    channels,  ///< on each channel
    pooled,    ///< in the sums of channels around each one, below 3 kHz: small and wide spikes
};

/// Spikes of a unit that was not known.
struct residual_unit {
    residual_traces where = residual_traces::channels;  ///< it was found
    std::uint32_t number = 0;                           ///< in the table of decisions
    std::uint32_t peak_channel = 0;
    std::vector<std::int64_t> frames{};  ///< ascending
    std::vector<float> fractions{};
};

struct residual_search {
    residual_traces where = residual_traces::channels;
    const detection_options& detection;  ///< options by which the spikes were detected
    std::uint32_t least_spikes = 0;      ///< smaller clusters are left out
    std::uint32_t first_number = 0;      ///< of the clusters, in the table of decisions
};

/// Finds units among the spikes that are left in the traces after those of other units were
/// subtracted: they are detected, clustered by channel and refined like those of the recording.
/// The remainders that a template leaves of its own spikes are not a unit.
/// @param found      those that are new are appended
/// @param decisions  those that are made are appended
void find_residual_units(const template_traces& traces, const subtracted_units& subtracted,
                         const residual_search& search, const execution& run,
                         std::vector<residual_unit>& found,
                         std::vector<cluster_decision>& decisions);

/// Whether each spike is of a unit of the set and beside a detection that no template explains, on
/// a channel of its unit: then it is considered wrong.
std::vector<bool> are_unexplained(const template_sorting& known, const template_set::parts& set,
                                  std::span<const unexplained_detection> unexplained);

}  // namespace spikeweave::templates
