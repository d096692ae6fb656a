#pragma once

#include <string>
#include <vector>

#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::pipeline {

/// Adds warnings if there were too few surrogates for the number of signatures tested, and if
/// signatures are significant without a test, as in Elephant.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings);

}  // namespace spikeweave::pipeline
