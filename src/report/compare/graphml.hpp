#pragma once

#include <string>

#include "spikeweave/pipeline/compare/episodes.hpp"

namespace spikeweave::report {

/// The pairs of a comparison as a graph, with the changes of their edges.
std::string difference_graphml(const episode_comparison& result);

}  // namespace spikeweave::report
