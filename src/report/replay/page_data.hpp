#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The data of the page of a result of replay: what its tables hold and the spikes that were
/// searched.
/// @param folder  that of the result, or of one that is not complete but has its tables
/// @throws io_error if a table is damaged or of other spikes, or `run.json` does not tell the
/// events; cancelled.
std::string replay_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                             const execution& run);

}  // namespace spikeweave::report
