#pragma once

#include <functional>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

using block_taker = std::function<void(const pattern_table& block)>;

/// @throws invalid_argument for rules that no pattern can follow.
void check_options(const spade_options& options);
/// The same, and what they come to with these windows.
spade_options checked_options(const spade_windows& windows, spade_options options);

// One function a strategy: all closed patterns that a rule takes, in canonical order, without what
// `options` has dropped. `options.strategy` is not looked at; the rules are checked.
mining_summary mine_fp_growth(const spade_windows& windows, const spade_options& options,
                              const block_taker& take, const execution& run);
mining_summary mine_first_bin(const spade_windows& windows, const spade_options& options,
                              const block_taker& take, const execution& run);

}  // namespace spikeweave::spade
