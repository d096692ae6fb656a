#pragma once

#include "report/run_json.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::report {

/// Returns what `run.json` says of the search for a table.
json search_json(const episode_table& table);

}  // namespace spikeweave::report
