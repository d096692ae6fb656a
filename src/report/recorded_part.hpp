#pragma once

#include "report/run_json.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The part of a recording that was analysed, as `run.json` says it.
namespace spikeweave::report {

/// The contents of the input: the numbers of spikes and units, the span, and the epochs if there
/// are any.
json contents_of(const spike_sequence& spikes);

/// Takes from the spikes of a file those that a result was made of.
/// @param input  the record of the input, with `contents_of` the spikes
/// @throws json::exception or invalid_argument if the record is damaged.
spike_sequence recorded_part(spike_sequence spikes, const json& input);

}  // namespace spikeweave::report
