#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "report/run_json.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

std::string base64(std::span<const std::uint8_t> bytes);

/// The spikes in their order, as the data of every page have them.
json page_spikes(const spike_sequence& spikes);

}  // namespace spikeweave::report
