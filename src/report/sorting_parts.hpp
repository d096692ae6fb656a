#pragma once

#include "report/run_json.hpp"
#include "spikeweave/report/sorting.hpp"

namespace spikeweave::report {

/// Returns the content of `run.json` for a sorting.
json sorting_run(const sorting_report& report);

}  // namespace spikeweave::report
