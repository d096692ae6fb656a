#pragma once

#include "report/run_json.hpp"
#include "synfire/report/sorting.hpp"

namespace synfire::report {

/// What `run.json` says of a sorting.
json sorting_run(const sorting_report& report);

}  // namespace synfire::report
