#pragma once

#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::pipeline {

/// The result of a search alone, without its patterns.
spade_result search_result(const mining_summary& found, const spade_input& prepared,
                           const spade_options& options);

}  // namespace spikeweave::pipeline
