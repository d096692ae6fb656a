#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/spade/named_patterns.hpp"
#include "spikeweave/pipeline/compare.hpp"
#include "spikeweave/pipeline/run_options.hpp"

/// Which given SPADE patterns occur more often, or follow their first unit more reliably, in one of
/// two conditions a and b. docs/algorithms/compare.md has the formulas and the calibration.
namespace spikeweave {

/// All options of a comparison of patterns.
struct pattern_comparison_options {
    /// As in `episode_comparison_options`.
    duration block = std::chrono::seconds{10};
    permutation_options permutation{};
    double change_alpha = 0.05;  ///< a change with a q below this is significant
    /// Corrects the changes over all patterns; must not be a two-stage correction.
    correction_method change_correction = correction_method::benjamini_hochberg;
    /// Surrogates of each sample, by dither_spikes_with_refractory_period. Their mean count is the
    /// number that the rates of the units predict. At least 1.
    std::uint32_t surrogates = 100;
    duration dither = std::chrono::milliseconds{15};  ///< above 0
    run_options run{};                                ///< devices are not used
};

SPIKEWEAVE_API option_list describe(pattern_comparison_options& options);

/// One pattern in both conditions. `first_spikes` are the bins in which its first unit fires,
/// by which the excess is divided.
struct pattern_change : condition_change {
    named_pattern what{};
};

struct pattern_comparison {
    std::vector<std::string> unit_names{};
    std::array<condition_summary, 2> conditions{};
    sample_kind samples = sample_kind::blocks;
    label_permutations labellings{};
    duration bin{};
    std::vector<pattern_change> findings{};  ///< in the order in which they were given
    pattern_comparison_options options{};
    std::vector<std::string> warnings{};  ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Compares how often patterns occur in two conditions: in windows that begin in each bin, as SPADE
/// counts them. Samples are those of `compare_episodes`, and the bins of each begin separately;
/// its epochs are joined two windows apart. Patterns with a unit that is not in all recordings are
/// left out with a warning. The test is valid if the patterns were not chosen by how often they
/// occur in one of the conditions: patterns of all spikes of both together, or of another
/// recording.
/// @throws invalid_argument if an option is out of range, no pattern is given or left, a bin is not
/// above 0, there are no common units, or so few samples that no p-value can be below
/// `change_alpha`; cancelled.
SPIKEWEAVE_API pattern_comparison compare_patterns(const compared_recordings& recordings,
                                                   const named_patterns& given,
                                                   const pattern_comparison_options& options = {},
                                                   const execution& run = {});

}  // namespace spikeweave
