#pragma once

#include <string>

#include "spikeweave/core/export.hpp"

/// The capabilities of this installation of spikeweave on this machine, as `spikeweave doctor`
/// shows them.
namespace spikeweave {

/// The report in two forms.
struct installation_text {
    std::string terminal{};  ///< for a terminal
    std::string json{};      ///< the same as one JSON document
};
/// Looks for devices, so it starts the driver of GPUs.
SPIKEWEAVE_API installation_text examine_installation();

}  // namespace spikeweave
