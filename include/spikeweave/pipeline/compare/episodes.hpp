#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/assess/label_permutation.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/compare.hpp"
#include "spikeweave/pipeline/episodes.hpp"

/// Which episodes occur more often, or follow their first unit more reliably, in one of two
/// conditions a and b. docs/algorithms/compare.md has the formulas and the calibration.
namespace spikeweave {

/// The spikes that are searched for the episodes that are compared.
enum class findings_source : std::uint8_t {
    together,  ///< all spikes of both conditions, so the choice does not depend on the labels
    either,    ///< each recording, or each condition of one recording, by itself
};

template <>
SPIKEWEAVE_API enum_table<findings_source> enum_names<findings_source>();

/// All options of a comparison.
struct episode_comparison_options {
    findings_source findings = findings_source::together;
    /// The length of a sample if each condition is one recording without epochs. A rest of less
    /// than half of it belongs to the last one.
    duration block = std::chrono::seconds{10};
    permutation_options permutation{};
    double change_alpha = 0.05;  ///< a change with a q below this is significant
    /// Corrects the changes over all findings; must not be a two-stage correction.
    correction_method change_correction = correction_method::benjamini_hochberg;
    episode_mining_options mining{.delays = default_delays()};
    significance_options significance{};  ///< of the search
    run_options run{};
};

SPIKEWEAVE_API option_list describe(episode_comparison_options& options);

/// One finding in both conditions; its occurrences are counted without overlap. `expected` is the
/// mean count when the spikes of one unit are rotated (`expected_by_jitter`), and the excess is
/// divided by `removed`.
struct episode_change : condition_change {
    episode what{};
    /// The searches of each condition that found it; 0 if all spikes were searched together.
    std::array<std::size_t, 2> found{};
    /// The true occurrences that this rotation would remove if each spike of the first unit had one
    /// (`removed_by_jitter`).
    std::array<double, 2> removed{};
};

struct episode_comparison {
    std::vector<std::string> unit_names{};
    std::array<condition_summary, 2> conditions{};
    sample_kind samples = sample_kind::blocks;
    label_permutations labellings{};
    /// The direct edges and chains that were found, pairs first, by units and delays.
    std::vector<episode_change> findings{};
    episode_comparison_options options{};  ///< as they were resolved
    std::vector<std::string> warnings{};   ///< warnings for the user, as full sentences
    double seconds = 0;
};

/// Compares two conditions. If both are one recording, the samples are its epochs, or blocks of
/// time; else each recording is one sample, and all of them weigh the same. Units are the same if
/// they have the same name; units that are not in all recordings are left out with a warning.
/// @throws invalid_argument if an option is out of range, there are no common units, or so few
/// samples that no p-value can be below `change_alpha`; device_error; cancelled.
SPIKEWEAVE_API episode_comparison compare_episodes(const compared_recordings& recordings,
                                                   const episode_comparison_options& options = {},
                                                   const execution& run = {});

}  // namespace spikeweave
