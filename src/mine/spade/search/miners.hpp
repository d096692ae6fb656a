#pragma once

#include <functional>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

using block_taker = std::function<void(const pattern_table& block)>;

/// @throws invalid_argument if a rule cannot be met by any pattern.
void check_options(const pattern_mining_options& options);
/// Checks the rules, and adapts them to these windows.
pattern_mining_options checked_options(const spade_windows& windows,
                                       pattern_mining_options options);

// There is one function for each strategy. It finds all closed patterns that meet a rule, in
// canonical order, without those that `options` drops. It ignores `options.strategy`; the rules
// must have been checked.
mining_summary mine_fp_growth(const spade_windows& windows, const pattern_mining_options& options,
                              const block_taker& take, const execution& run);
mining_summary mine_first_bin(const spade_windows& windows, const pattern_mining_options& options,
                              const block_taker& take, const execution& run);

}  // namespace spikeweave::spade
