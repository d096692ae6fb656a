#pragma once

#include <span>
#include <string>

#include "spikeweave/core/device.hpp"
#include "spikeweave/core/export.hpp"

/// The usable GPUs, as `spikeweave devices` shows them, with what the strategy `hybrid` was
/// calibrated to.
namespace spikeweave {

/// Summarises devices as text for a terminal; states the reason if there is none.
SPIKEWEAVE_API std::string summarize(std::span<const device_info> devices);
/// The same as one JSON document.
SPIKEWEAVE_API std::string to_json(std::span<const device_info> devices);

}  // namespace spikeweave
