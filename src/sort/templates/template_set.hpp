#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "io/zip.hpp"
#include "sort/templates/matching.hpp"
#include "sort/templates/template_traces.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/stream.hpp"
#include "spikeweave/sort/online.hpp"

/// The parts of a set of templates.
struct spikeweave::template_set::parts {
    feature_basis basis{};
    trace_settings traces{};  ///< causal
    templates::template_window window{};
    std::vector<std::uint32_t> peak_channels{};
    templates::match_plan plan;
    std::vector<unit_verdict> verdicts{};
};

namespace spikeweave::templates {

/// The spikes and places from which templates are averaged.
struct learned_from {
    std::span<const template_spike> spikes{};  ///< ascending by frame
    std::span<const template_place> places{};  ///< of the units
    template_window window{};
};

/// Averages templates again in traces that are filtered forward only, and measures what they need.
/// @param detection  of the sorting, with its basis and without motion
/// @param measuring  the rule by which amplitudes and misfits are measured
/// @param rule       that of the set
template_set learn_set(const recording& from, const learned_from& units,
                       const detection_options& detection, const match_rule& measuring,
                       const match_rule& rule, std::uint64_t kept_bytes, const execution& run);

/// Appends units to a set, whose own stay as they are.
/// @param units  the spikes and places of its units, then those of the new ones
/// @param moved  the motion that was undone; null: none
template_set extended_set(const template_set& set, const recording& from, const learned_from& units,
                          const std::shared_ptr<const probe_motion>& moved,
                          const match_rule& measuring, const match_rule& rule,
                          std::uint64_t kept_bytes, const execution& run);

/// Writes the arrays of a set.
void write_into(io::zip_writer& archive, const template_set& set);

}  // namespace spikeweave::templates
