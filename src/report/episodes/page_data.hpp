#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The data of the page that shows a result folder, as docs/formats.md describes them. They are
/// taken from the tables, so that the page has the same numbers.
/// @throws io_error if a table is missing, or has a unit that the spikes do not have; cancelled.
std::string episode_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const execution& run);

}  // namespace spikeweave::report
