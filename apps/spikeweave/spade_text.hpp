#pragma once

#include <string>

#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/report/patterns.hpp"

namespace spikeweave::cli {

/// Says how patterns were found: with which thresholds, strategy and surrogates.
/// @param asked  the options as they were given
std::string how_found(const pattern_report& report, const spade_options& asked);

}  // namespace spikeweave::cli
