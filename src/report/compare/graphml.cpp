#include "report/compare/graphml.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>

#include "report/compare/findings.hpp"
#include "report/text.hpp"

namespace spikeweave::report {
namespace {

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

std::string known_data(std::string_view key, double value) {
    return std::isfinite(value) ? fmt::format(R"(<data key="{}">{:.6g}</data>)", key, value) : "";
}

}  // namespace

std::string difference_graphml(const episode_comparison& result) {
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
