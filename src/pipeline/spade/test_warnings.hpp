#pragma once

#include <string>
#include <vector>

#include "spikeweave/assess/surrogate_numbers.hpp"
#include "spikeweave/pipeline/spade.hpp"

namespace spikeweave::pipeline {

/// Significant is what the correction rejects, as in statsmodels and Elephant.
test_level level_of(const spade_options& options);

/// Adds warnings if there were too few surrogates for the number of signatures tested, and if
/// signatures are significant without a test, as in Elephant.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings);

}  // namespace spikeweave::pipeline
