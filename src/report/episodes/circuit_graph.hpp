#pragma once

#include <cstddef>
#include <vector>

#include "report/episodes/parts.hpp"
#include "report/svg_canvas.hpp"

namespace spikeweave::report {

/// Draws edges as one graph: units are on a circle, in order, and each edge is an arrow whose width
/// grows with its strength.
/// @param edges  of the report's circuit, at most `most_graph_edges`
/// @return the height of the graph
double draw_circuit_graph(drawing& out, double top, const episode_view& p,
                          const std::vector<std::size_t>& edges);

inline constexpr std::size_t most_graph_edges = 150;

}  // namespace spikeweave::report
