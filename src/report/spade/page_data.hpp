#pragma once

#include <filesystem>
#include <string>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// The data of the page that shows a result folder of `spade`, as docs/formats.md describes them.
/// They are taken from the tables, so that the page has the same numbers.
/// @param spikes  those that were binned; empty if only windows were given
/// @throws io_error if a table is missing, or has a unit that the axes do not have; cancelled.
std::string pattern_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                              const pattern_axes& axes, const execution& run);

}  // namespace spikeweave::report
