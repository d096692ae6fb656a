#pragma once

#include <string>
#include <vector>

#include "spikeweave/assess/surrogate_numbers.hpp"
#include "spikeweave/pipeline/spade.hpp"
#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave::pipeline {

/// The way to make surrogates of binned spikes: with the method and the trials that the options
/// request or leave open.
/// @param epochs  those of the spikes, each of which is a trial
surrogate_options surrogates_of(const spade_options& options, const spike_sequence& spikes,
                                std::vector<time_span> epochs);

/// The devices of an analysis: those that search its surrogates; without surrogates, the one that
/// searches the data. @throws invalid_argument if ranks share that search; device_error if one does
/// not exist.
std::vector<int> devices_of(const spade_options& options, const execution& run);

/// The execution that searches the data: on the first of these devices, unless ranks share the
/// search or it is one of FP-growth.
execution searching_data(const spade_options& options, const execution& run,
                         const std::vector<int>& devices);

/// The result of a search alone, without its patterns.
spade_result search_result(const mining_summary& found, const spade_input& prepared,
                           const spade_options& options);

/// Significant is what the correction rejects, as in statsmodels and Elephant.
test_level level_of(const spade_options& options);

/// Adds warnings if there were too few surrogates for the number of signatures tested, and if
/// signatures are significant without a test, as in Elephant.
void warn_of_tests(const pattern_test_result& assessment, const spade_input& prepared,
                   const spade_options& options, std::vector<std::string>& warnings);

/// Adds a warning if more patterns are significant than distinct ones usually are.
void warn_of_fragments(std::size_t significant, const spade_options& options,
                       std::vector<std::string>& warnings);

}  // namespace spikeweave::pipeline
