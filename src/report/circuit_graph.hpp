#pragma once

#include <cstddef>
#include <vector>

#include "report/drawing.hpp"
#include "report/parts.hpp"

namespace spikeweave::report {

/// Draws edges as one graph: every unit once, around a circle in the order of units, and an arrow
/// from each source to each target, as thick as it is strong.
/// @param edges  of the report's circuit, at most `most_graph_edges`
/// @return how high it is
double draw_circuit_graph(drawing& out, double top, const prepared& p,
                          const std::vector<std::size_t>& edges);

inline constexpr std::size_t most_graph_edges = 150;

}  // namespace spikeweave::report
