#pragma once

#include <cstdint>
#include <string>

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

/// The expected cost of the search in the data.
struct spade_cost {
    spade_estimate search{};
    std::uint64_t bytes = 0;  ///< resident memory of this process when it has ended
};

/// Estimates the cost of the search, in about half a second.
/// @param is_collected  whether the patterns are held in memory, as by `run_spade`
/// @throws invalid_argument, cancelled, like `estimate_mining`.
SPIKEWEAVE_API spade_cost estimate_search(const spade_input& prepared, const spade_options& options,
                                          bool is_collected, const execution& run = {});

/// The cost in words: "about 1,200 candidates, …".
SPIKEWEAVE_API std::string describe_cost(const spade_cost& cost, const spade_options& options);

/// @throws invalid_argument if the search is expected to take a day or longer on one thread, as
/// where every unit fires in most windows. `run_spade` of spikes and the command check this; a
/// program that wants such a search calls the stages.
SPIKEWEAVE_API void check_duration(const spade_cost& cost, const spade_options& options);

/// The cost of the search and of the surrogates in words, as "estimate: about 1,200 candidates, …";
/// empty if the whole is expected to take less than ten seconds and is not `always` wanted.
/// The time of the surrogates is estimated from the first one, in at most ten seconds.
/// @throws invalid_argument, cancelled.
SPIKEWEAVE_API std::string describe_estimate(const spade_cost& cost, const spade_input& prepared,
                                             const spade_options& options, bool always = false,
                                             const execution& run = {});

}  // namespace spikeweave
