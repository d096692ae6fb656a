#pragma once

#include <cstdint>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// Counts the windows with each pattern of a table, as `mine_patterns` does, in spikes in which the
/// patterns were not necessarily found.
/// @param spikes  with the units of the table
/// @return one element for each pattern
/// @throws invalid_argument if an item of the table has no unit there.
SPIKEWEAVE_API std::vector<std::uint32_t> count_patterns(const binned_spikes& spikes,
                                                         const pattern_table& patterns);

/// The count of a given pattern, compared with surrogates.
struct pattern_support {
    std::uint32_t count = 0;
    double expected = 0;  ///< mean count in the surrogates
    /// (1 + surrogates with at least this count) / (1 + surrogates)
    double p = 1;
};

/// Counts each pattern of a table in spikes and in surrogates of them. This tests each pattern by
/// itself, and is valid only for patterns that were not chosen by their counts in these spikes.
/// The result is the same for any number of threads; ranks are not used.
/// @throws invalid_argument if there is no surrogate, or as `count_patterns`; cancelled.
SPIKEWEAVE_API std::vector<pattern_support> test_support(const binned_spikes& spikes,
                                                         const pattern_table& patterns,
                                                         const surrogate_source& make,
                                                         std::uint32_t surrogates,
                                                         const execution& run = {});

}  // namespace spikeweave
