#pragma once

#include <string>

#include "spikeweave/pipeline/episodes/conditions.hpp"

namespace spikeweave::report {

/// The pairs of a comparison as a graph: colours say which ones became stronger or weaker.
std::string difference_svg(const condition_comparison& result);
std::string difference_graphml(const condition_comparison& result);

}  // namespace spikeweave::report
