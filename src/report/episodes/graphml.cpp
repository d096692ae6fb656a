#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "report/columns.hpp"
#include "report/episodes/view.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view header = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="name" for="node" attr.name="name" attr.type="string"/>
  <key id="spikes" for="node" attr.name="count" attr.type="long"/>
  <key id="rate" for="node" attr.name="rate_hz" attr.type="double"/>
)";

constexpr std::string_view begin = R"(  <graph id="circuit" edgedefault="directed">
)";

std::string data(std::string_view key, const std::string& value) {
    return fmt::format(R"(<data key="{}">{}</data>)", key, value);
}

std::string data(std::string_view key, double value) {
    return data(key, fmt::format("{:.6g}", value));
}

}  // namespace

std::string circuit_graphml(const episode_view& p) {
    std::string out =
        fmt::format("{}{}{}", header, graphml_keys(described_row(circuit_edge{})), begin);
    const auto add = std::back_inserter(out);
    for (std::size_t u = 0; u < p.report.spikes.unit_count(); ++u)
        fmt::format_to(add, "    <node id=\"u{}\">{}{}{}</node>\n", u,
                       data("name", xml_escaped(p.report.spikes.unit_names()[u])),
                       data("spikes", std::to_string(p.unit_counts[u])),
                       data("rate", p.rate_hz(u)));
    for (const circuit_edge& edge : p.report.circuit.edges) {
        fmt::format_to(add, R"(    <edge source="u{}" target="u{}">)", to_index(edge.from),
                       to_index(edge.to));
        out += graphml_data(described_row(edge), p.report.spikes.unit_names());
        out += "</edge>\n";
    }
    return out + "  </graph>\n</graphml>\n";
}

}  // namespace spikeweave::report
