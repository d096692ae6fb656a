#pragma once

#include <string>

#include "spikeweave/pipeline/episodes/conditions.hpp"

namespace spikeweave::report {

/// The pairs of a comparison as a graph: colours say which ones became stronger or weaker.
std::string difference_svg(const condition_comparison& result);
std::string difference_graphml(const condition_comparison& result);

/// "up", "down" or "same", by the sign of a change that is significant.
std::string_view direction_of(const episode_change& finding);
/// Six digits, or "-" for what is not known.
std::string known_number(double value);

}  // namespace spikeweave::report
