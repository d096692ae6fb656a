#include "report/episodes/difference_circuit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "report/episodes/circuit_graph.hpp"
#include "report/finding_changes.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view difference_style =
    R"(  .same, .up, .down { fill: none; marker-end: url(#head); }
  .same { stroke: #9aa5b1; }
  .up { stroke: #b3261e; }
  .down { stroke: #1f5fbf; }
  .rate { stroke-dasharray: 5 3; }
</style>
<defs><marker id="head" markerUnits="userSpaceOnUse" markerWidth="11" markerHeight="10" refX="9" refY="5" orient="auto"><path d="M0,0.5 L10,5 L0,9.5 z" fill="#52606d"/></marker></defs>
)";

constexpr std::string_view difference_keys = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="name" for="node" attr.name="name" attr.type="string"/>
  <key id="low" for="edge" attr.name="delay_low_ms" attr.type="double"/>
  <key id="high" for="edge" attr.name="delay_high_ms" attr.type="double"/>
  <key id="rate_ratio" for="edge" attr.name="rate_ratio" attr.type="double"/>
  <key id="rate_q" for="edge" attr.name="rate_q" attr.type="double"/>
  <key id="excess_a" for="edge" attr.name="excess_a" attr.type="double"/>
  <key id="excess_b" for="edge" attr.name="excess_b" attr.type="double"/>
  <key id="excess_q" for="edge" attr.name="excess_q" attr.type="double"/>
  <key id="change" for="edge" attr.name="change" attr.type="string"/>
  <key id="direction" for="edge" attr.name="direction" attr.type="string"/>
  <graph id="differences" edgedefault="directed">
)";

// The classes of an arrow: its direction, and whether rates explain it.
std::string_view arrow_classes(const episode_change& pair) {
    const bool up = direction_of(pair) == "up";
    switch (pair.change) {
        case change_kind::none:
            return "same";
        case change_kind::rate:
            return up ? "up rate" : "down rate";
        case change_kind::excess:
            break;
    }
    return up ? "up" : "down";
}

std::vector<graph_arrow> arrows_of(const condition_comparison& result) {
    std::vector<graph_arrow> arrows;
    for (const episode_change& one : result.findings) {
        if (one.what.size() != 2) continue;
        const double strength = std::max(std::isnan(one.excess.a) ? 0 : one.excess.a,
                                         std::isnan(one.excess.b) ? 0 : one.excess.b);
        arrows.push_back({one.what.units[0], one.what.units[1], std::clamp(strength, 0.0, 1.0),
                          one.what.delays[0], arrow_classes(one)});
    }
    // What changed is drawn on top, and kept if there are too many.
    std::ranges::stable_sort(arrows, [](const graph_arrow& a, const graph_arrow& b) {
        return std::pair(a.kind != "same", a.strength) > std::pair(b.kind != "same", b.strength);
    });
    if (arrows.size() > most_graph_edges) arrows.resize(most_graph_edges);
    std::ranges::reverse(arrows);
    return arrows;
}

std::string known_data(std::string_view key, double value) {
    return std::isfinite(value) ? fmt::format(R"(<data key="{}">{:.6g}</data>)", key, value) : "";
}

}  // namespace

std::string difference_svg(const condition_comparison& result) {
    drawing out;
    double y = drawing::margin + 14;
    out.text(drawing::margin, y, "head", "Difference of b and a");
    const std::vector<graph_arrow> arrows = arrows_of(result);
    y += 22;
    out.text(drawing::margin, y, "note",
             fmt::format("{} · q < {}", plural(arrows.size(), "pair", "pairs"),
                         result.options.change_alpha));
    y += 18;
    out.text(drawing::margin, y, "note",
             "red: more in b · blue: less in b · dashed: explained by rates · grey: the same");
    y += 16;
    if (!arrows.empty()) y += draw_circuit_graph(out, y + 8, result.unit_names, arrows) + 8;
    return out.drawn(y + drawing::margin - 8, std::string(graph_style).append(difference_style));
}

std::string difference_graphml(const condition_comparison& result) {
    std::string out(difference_keys);
    const auto add = std::back_inserter(out);
    for (std::size_t u = 0; u < result.unit_names.size(); ++u)
        fmt::format_to(add, "    <node id=\"u{}\"><data key=\"name\">{}</data></node>\n", u,
                       xml_escaped(result.unit_names[u]));
    for (const episode_change& one : result.findings) {
        if (one.what.size() != 2) continue;
        fmt::format_to(add, R"(    <edge source="u{}" target="u{}">)", to_index(one.what.units[0]),
                       to_index(one.what.units[1]));
        const delay_interval& delay = one.what.delays[0];
        fmt::format_to(add, R"(<data key="low">{}</data><data key="high">{}</data>)",
                       milliseconds(delay.low), milliseconds(delay.high));
        out += known_data("rate_ratio", one.rate.ratio.value);
        out += known_data("rate_q", one.rate_q);
        out += known_data("excess_a", one.excess.a);
        out += known_data("excess_b", one.excess.b);
        out += known_data("excess_q", one.excess_q);
        fmt::format_to(add,
                       "<data key=\"change\">{}</data><data key=\"direction\">{}</data></edge>\n",
                       to_string(one.change), direction_of(one));
    }
    return out + "  </graph>\n</graphml>\n";
}

}  // namespace spikeweave::report
