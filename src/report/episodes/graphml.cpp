#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "report/episodes/parts.hpp"

namespace spikeweave::report {
namespace {

constexpr std::string_view header = R"(<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"
         xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="name" for="node" attr.name="name" attr.type="string"/>
  <key id="spikes" for="node" attr.name="count" attr.type="long"/>
  <key id="rate" for="node" attr.name="rate_hz" attr.type="double"/>
  <key id="sign" for="edge" attr.name="sign" attr.type="string"/>
  <key id="low" for="edge" attr.name="delay_low_ms" attr.type="double"/>
  <key id="high" for="edge" attr.name="delay_high_ms" attr.type="double"/>
  <key id="best_low" for="edge" attr.name="best_low_ms" attr.type="double"/>
  <key id="best_high" for="edge" attr.name="best_high_ms" attr.type="double"/>
  <key id="count" for="edge" attr.name="count" attr.type="long"/>
  <key id="expected" for="edge" attr.name="expected" attr.type="double"/>
  <key id="p" for="edge" attr.name="p" attr.type="double"/>
  <key id="q" for="edge" attr.name="q" attr.type="double"/>
  <key id="strength" for="edge" attr.name="strength" attr.type="double"/>
  <key id="gain" for="edge" attr.name="gain" attr.type="double"/>
  <key id="gain_low" for="edge" attr.name="gain_low" attr.type="double"/>
  <key id="gain_high" for="edge" attr.name="gain_high" attr.type="double"/>
  <key id="transmission" for="edge" attr.name="transmission" attr.type="double"/>
  <key id="transmission_low" for="edge" attr.name="transmission_low" attr.type="double"/>
  <key id="transmission_high" for="edge" attr.name="transmission_high" attr.type="double"/>
  <key id="kind" for="edge" attr.name="kind" attr.type="string"/>
  <key id="via" for="edge" attr.name="via" attr.type="string"/>
  <key id="mean" for="edge" attr.name="mean_delay_ms" attr.type="double"/>
  <key id="mean_low" for="edge" attr.name="mean_delay_low_ms" attr.type="double"/>
  <key id="mean_high" for="edge" attr.name="mean_delay_high_ms" attr.type="double"/>
  <key id="asymmetry" for="edge" attr.name="asymmetry" attr.type="double"/>
  <key id="cut" for="edge" attr.name="cut" attr.type="string"/>
  <key id="synchronous" for="edge" attr.name="synchronous" attr.type="long"/>
  <key id="synchronous_expected" for="edge" attr.name="synchronous_expected" attr.type="double"/>
  <graph id="circuit" edgedefault="directed">
)";

std::string data(std::string_view key, const std::string& value) {
    return fmt::format(R"(<data key="{}">{}</data>)", key, value);
}

std::string data(std::string_view key, double value) {
    return data(key, fmt::format("{:.6g}", value));
}

}  // namespace

std::string circuit_graphml(const episode_view& p) {
    std::string out(header);
    const auto add = std::back_inserter(out);
    for (std::size_t u = 0; u < p.report.spikes.unit_count(); ++u)
        fmt::format_to(add, "    <node id=\"u{}\">{}{}{}</node>\n", u,
                       data("name", xml_escaped(p.report.spikes.unit_names()[u])),
                       data("spikes", std::to_string(p.unit_counts[u])),
                       data("rate", p.rate_hz(u)));
    for (const circuit_edge& edge : p.report.circuit.edges) {
        fmt::format_to(add, R"(    <edge source="u{}" target="u{}">)", to_index(edge.from),
                       to_index(edge.to));
        out += data("sign", std::string(to_string(edge.sign)));
        out += data("low", milliseconds(edge.delay.low));
        out += data("high", milliseconds(edge.delay.high));
        out += data("best_low", milliseconds(edge.best.low));
        out += data("best_high", milliseconds(edge.best.high));
        out += data("count", std::to_string(edge.count));
        out += data("expected", edge.expected);
        out += data("p", edge.p);
        out += data("q", edge.q);
        out += data("strength", edge.strength);
        for (const auto& [key, of] :
             {std::pair{"gain", edge.gain}, {"transmission", edge.transmission}}) {
            out += data(key, of.value);
            out += data(fmt::format("{}_low", key), of.low);
            out += data(fmt::format("{}_high", key), of.high);
        }
        out += data("kind", std::string(to_string(edge.kind)));
        if (!edge.via.empty()) out += data("via", xml_escaped(p.name(edge.via.front())));
        if (edge.timing.delay) {
            out += data("mean", edge.timing.delay->mean_us / 1000);
            out += data("mean_low", edge.timing.delay->low_us / 1000);
            out += data("mean_high", edge.timing.delay->high_us / 1000);
        }
        out += data("asymmetry", edge.timing.asymmetry);
        out += data("cut", std::string(to_string(edge.timing.cut)));
        out += data("synchronous", std::to_string(edge.timing.synchronous));
        out += data("synchronous_expected", edge.timing.synchronous_expected);
        out += "</edge>\n";
    }
    return out + "  </graph>\n</graphml>\n";
}

}  // namespace spikeweave::report
