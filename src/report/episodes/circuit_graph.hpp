#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/svg_canvas.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::report {

/// An arrow of the graph.
struct graph_arrow {
    unit_id from{};
    unit_id to{};
    double strength = 0;  ///< in [0, 1]; its width grows with this
    delay_interval delay{};
    std::string_view kind = "arrow";  ///< its class in the style of the picture
};

/// Draws arrows as one graph: units are on a circle, in order.
/// @param arrows  at most `most_graph_edges`
/// @return the height of the graph
double draw_circuit_graph(drawing& out, double top, std::span<const std::string> unit_names,
                          std::span<const graph_arrow> arrows);

inline constexpr std::size_t most_graph_edges = 150;

/// The common classes of graphs, for the `style` of a picture.
inline constexpr std::string_view graph_style =
    R"(  .on-arrow { font-size: 9px; fill: #3e4c59; text-anchor: middle; stroke: #ffffff; stroke-width: 3px; paint-order: stroke; }
  .unit { text-anchor: middle; font-weight: 600; }
  circle { fill: #e3f2f6; stroke: #0b7285; stroke-width: 1.6; }
)";

}  // namespace spikeweave::report
