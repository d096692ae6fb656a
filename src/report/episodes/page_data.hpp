#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/page_tables.hpp"
#include "report/run_json.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The data of the page that shows a result folder, as docs/formats.md describes them. They are
/// taken from the tables, so that the page has the same numbers.
/// @param source  the file of the spikes; if a result of `sort` has it, units have places
/// @throws io_error if a table is missing, or has a unit that the spikes do not have; cancelled.
std::string episode_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const std::filesystem::path& source, const execution& run);

/// Reads "(4,6] (4,6] ms" as a list of [low, high]; an episode of one unit has "-".
json intervals_of(const page_table& rows, std::string_view cell);

}  // namespace spikeweave::report
