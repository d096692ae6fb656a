#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/compare/samples.hpp"
#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/pipeline/compare.hpp"

/// The tests of a comparison, whatever its findings are.
namespace spikeweave::pipeline {

/// The options of the test of changes.
struct change_rules {
    permutation_options permutation{};
    double alpha = 0.05;
    correction_method correction = correction_method::benjamini_hochberg;
};

/// Adds the options of a comparison, from `block` on.
void describe_changes(option_list& list, duration& block, permutation_options& permutation,
                      double& alpha, correction_method& correction);

/// @throws invalid_argument if so few samples are too few for any p to be below alpha.
label_permutations labellings_of(const compared_samples& taken, const change_rules& rules);

/// The counts of one finding in one sample.
struct counted_in_sample {
    std::uint64_t count = 0;
    std::uint64_t first_spikes = 0;
    double expected = 0;
    double per = 0;  ///< divides the occurrences beyond `expected`
};
/// Gives what was counted of a finding in a sample.
using finding_counter = std::function<counted_in_sample(std::size_t finding, std::size_t sample)>;

/// Sums what was counted of each finding, and tests its changes.
void test_changes(std::span<condition_change* const> findings, const compared_samples& taken,
                  const finding_counter& counted, const change_rules& rules, const execution& run);

/// A warning if a finding that changes alone cannot be significant; else none.
std::vector<std::string> warnings_of_few(std::size_t findings, const label_permutations& labellings,
                                         const change_rules& rules);

}  // namespace spikeweave::pipeline
