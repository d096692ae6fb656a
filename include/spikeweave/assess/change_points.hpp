#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"

/// When quantities that were measured in samples one after another change.
/// docs/algorithms/change-points.md has the formulas.
namespace spikeweave {

struct change_point_options {
    /// Random orders of the samples for each change.
    std::uint32_t permutations = 999;
    double alpha = 0.05;  ///< a change with a p below this is significant
    std::uint64_t seed = 1;
};

SPIKEWEAVE_API option_list describe(change_point_options& options);

/// A change between two samples.
struct change_point {
    std::size_t at;  ///< the first sample after the change
    double p;
};

/// The changes of some series together.
struct change_points {
    /// Significant ones, in the order in which they were found: the clearest one first.
    std::vector<change_point> found{};
    /// The likeliest one of all others, which is not significant. None if no part has as many
    /// samples as two states need.
    std::optional<change_point> next{};
};

/// A state between two changes has at least so many samples.
inline constexpr std::size_t least_samples_of_a_state = 2;

/// Finds the samples at which the means of series change, by the divisive procedure of Matteson and
/// James (2014, doi:10.1080/01621459.2013.849605) with the exponent 2, which sees changes of means
/// only: the best place of one change is searched in all parts, tested against random orders of the
/// samples within each part, which has to find its own best place, and divides its part if it is
/// significant; else the search ends. So a series without a change has one with a probability of at
/// most alpha if its samples are exchangeable, however many places there are. Every series is
/// divided by its standard deviation, and all series are put in the same orders. p counts the
/// observed order (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585). The result does not depend
/// on the number of threads.
/// @param series  for each quantity, its value in each sample, in the order of time; a constant one
/// carries no information
/// @throws invalid_argument if an option is out of range, or the series have different lengths or
/// values that are not finite; cancelled.
SPIKEWEAVE_API change_points find_change_points(std::span<const std::vector<double>> series,
                                                const change_point_options& options = {},
                                                const execution& run = {});

/// For each series by itself, the likeliest change and its p. None if there are too few samples for
/// two states.
/// @throws as `find_change_points`.
SPIKEWEAVE_API std::vector<std::optional<change_point>> likeliest_changes(
    std::span<const std::vector<double>> series, const change_point_options& options = {},
    const execution& run = {});

}  // namespace spikeweave
