#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"

namespace spikeweave::report {

/// The data of the page of a comparison, from `differences.tsv` and `run.json` in its folder.
/// @throws io_error if a table is damaged or was made by an earlier version; cancelled.
std::string condition_page_data(const std::filesystem::path& folder, const execution& run);

}  // namespace spikeweave::report
