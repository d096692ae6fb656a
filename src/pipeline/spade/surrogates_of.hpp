#pragma once

#include <vector>

#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave::pipeline {

/// The settings of surrogates of binned spikes: the method and the trials that the options request
/// or leave open.
/// @param epochs  those of the spikes, each of which is a trial
surrogate_options surrogates_of(const spade_options& options, const spike_sequence& spikes,
                                std::vector<time_span> epochs);

}  // namespace spikeweave::pipeline
