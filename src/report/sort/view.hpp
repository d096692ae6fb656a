#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/columns.hpp"
#include "report/document.hpp"
#include "report/run_json.hpp"
#include "report/sort/details.hpp"
#include "spikeweave/report/sort.hpp"

namespace spikeweave::report {

std::uint64_t noise_spikes(const sorting_report& report);
/// The number of units; labels without spikes are not units.
std::size_t unit_number(const sorting_report& report);

/// Returns the content of `run.json` for a sorting.
json sorting_run(const sorting_report& report);
/// The tables of the result, which has to outlive them.
result_table units_table(const sorting_report& report);
result_table iterations_table(const sorting_report& report);
result_table merges_table(const sorting_report& report);
/// The displacements; their file rounds them.
result_table motion_table(const sorting_report& report, table_use use);
sorting_details details_of(const sorting_report& report);
/// @param details  those of the report
document document_of(const sorting_report& report, const sorting_details& details);

}  // namespace spikeweave::report
