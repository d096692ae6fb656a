#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/spade/reduction.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Options of Elephant's pattern set reduction.
struct elephant_reduction_options {
    std::uint32_t window_bins = 1;
    reduction_options reduction{.compat = compatibility::elephant};
};
/// Describes the options under Elephant's names, except h, k and l, which may be negative.
SPIKEWEAVE_API option_list describe(elephant_reduction_options& options);

/// Removes patterns that others explain, as Elephant does.
/// @param table  patterns in Elephant's order with their occurrences; the numbers of these and the
/// length of the windows are filled in
/// @return indices of the patterns kept
/// @throws like `reduce_patterns`.
SPIKEWEAVE_API std::vector<std::size_t> reduce_as_elephant(
    pattern_table table, std::span<const pattern_signature> not_significant,
    const elephant_reduction_options& options, const execution& run = {});

}  // namespace spikeweave
