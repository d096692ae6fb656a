#pragma once

#include <cstdint>
#include <stop_token>

#include "live/sinks/event_results.hpp"
#include "live/sources/open_source.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/live/run.hpp"

namespace spikeweave::live {

/// The receivers of the caller's results. Either may be empty.
struct result_takers {
    line_taker print{};  ///< lines of JSON
    event_taker take{};  ///< everything but the result at the end
};

/// The way in which the spikes of a source arrive.
enum class source_kind : std::uint8_t {
    played,      ///< at any speed
    blocks,      ///< from the caller, who may or may not wait for windows
    stream,      ///< at a speed of their own
    own_stream,  ///< likewise, from programs that wait for acknowledgements
};

/// @throws invalid_argument if an option is out of range, or options cannot be given together.
void check_live_options(const live_options& options, source_kind kind);

/// Analyses the spikes of a source that is open: the part of `run_live` that all sources share.
/// @throws as `run_live`.
live_result run_source(opened_source opened, const live_options& options,
                       const result_takers& takers, const execution& run,
                       const std::stop_token& abort);

}  // namespace spikeweave::live
