#pragma once

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/pipeline/spade.hpp"

/// The expected cost of a SPADE analysis, before it begins. Memory is checked before it is
/// allocated, because a system that promises more than it has would end the process.
namespace spikeweave {

/// @throws invalid_argument if the windows of these spikes, or the counts of their items, may need
/// more memory than the guard allows.
SPIKEWEAVE_API void check_memory(const binned_recording& recording, const spade_options& options,
                                 const memory_guard& guard);
/// @throws invalid_argument if the counts of the items may need more memory than the guard allows.
SPIKEWEAVE_API void check_memory(const spade_windows& windows, const memory_guard& guard);

/// Estimates the cost of the search, in about half a second, and passes it on in words to
/// `run.on_estimate`, if there is one: "estimate: about 1,200 candidates, …". The time of the
/// surrogates is then estimated from the first one, in at most ten seconds; an analysis that is
/// expected to take less than ten seconds is passed on only if `always` is set.
/// @param is_collected  whether the patterns are held in memory, as by `run_spade`
/// @param guard  null: no bound
/// @throws invalid_argument if the search may need more memory than the guard allows, or is
/// expected to take a day or longer on one thread, as where every unit fires in most windows; a
/// program that wants such a search does not call this; as `estimate_mining`; cancelled.
SPIKEWEAVE_API void check_cost(const spade_analysis& analysis, bool is_collected,
                               const execution& run = {}, const memory_guard* guard = nullptr,
                               bool always = false);

}  // namespace spikeweave
