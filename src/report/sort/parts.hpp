#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/columns.hpp"
#include "report/run_json.hpp"
#include "spikeweave/report/sort.hpp"

namespace spikeweave::report {

std::uint64_t noise_spikes(const sorting_report& report);
/// The number of units; labels without spikes are not units.
std::size_t unit_number(const sorting_report& report);

/// Returns the content of `run.json` for a sorting.
json sorting_run(const sorting_report& report);
/// A line of `units.tsv`. @param what  of the report, which has to outlive the row
row unit_row(const sorting_report& report, std::size_t unit, const sorted_unit& what);
std::string units_tsv(const sorting_report& report);
std::string iterations_tsv(const sorting_report& report);
std::string merges_tsv(const sorting_report& report);
std::string motion_tsv(const sorting_report& report);
/// Draws the displacement at each depth over time, around that depth.
std::string motion_svg(const sorting_report& report);

}  // namespace spikeweave::report
