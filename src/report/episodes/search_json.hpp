#pragma once

#include <span>
#include <string>

#include "report/run_json.hpp"
#include "spikeweave/assess/episodes/circuit.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::report {

/// Returns what `run.json` says of the search for a table.
json search_json(const episode_table& table);

/// Returns what `--json` says of an edge.
json edge_json(const circuit_edge& edge, std::span<const std::string> names);

}  // namespace spikeweave::report
