#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/elephant/order.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// The patterns that Elephant's SPADE is asked for.
struct SPIKEWEAVE_API elephant_mining_options {
    std::uint32_t window_bins = 1;
    /// Elephant has one rule.
    pattern_mining_options mining{.take_identical_windows = true};
    spectrum_kind spectrum = spectrum_kind::size_count;

    const pattern_rule& rule() const { return mining.rules.front(); }
    /// Whether no pattern can meet the rule. Elephant then finds nothing, and throws no error.
    bool is_impossible() const;
};
/// Describes the options under Elephant's names.
SPIKEWEAVE_API option_list describe(elephant_mining_options& options);

struct elephant_patterns {
    pattern_table table{};
    elephant_order order{};
};

/// Finds the patterns that Elephant finds, and their order.
/// @throws like `mine_patterns`.
SPIKEWEAVE_API elephant_patterns mine_as_elephant(const binned_spikes& spikes,
                                                  const elephant_mining_options& options,
                                                  const execution& run = {});
/// Finds the patterns of given windows. They occur in windows by number, and none is left out as a
/// part of another.
SPIKEWEAVE_API elephant_patterns mine_as_elephant(const spade_windows& windows,
                                                  elephant_mining_options options,
                                                  const execution& run = {});

/// Counts how often each signature is found: Elephant's report "#" or "3d#".
SPIKEWEAVE_API std::vector<signature_count> count_as_elephant(
    const binned_spikes& spikes, const elephant_mining_options& options, const execution& run = {});

/// Elephant's filter for moving windows, applied to patterns alone: keeps a pattern if no other
/// with as many occurrences is a superset of it, when both are counted back from their last spikes.
/// @param offsets  beginning of each pattern in `items`, one more than patterns
/// @param counts  occurrences of each pattern
/// @return indices of the patterns kept
/// @throws invalid_argument if `window_bins` is 0; cancelled.
SPIKEWEAVE_API std::vector<std::uint64_t> drop_window_subsets(
    std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> items,
    std::span<const std::uint32_t> counts, std::uint32_t window_bins, const execution& run = {});

}  // namespace spikeweave
