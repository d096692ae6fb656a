#pragma once

#include "keyword_arguments.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::python {

/// A recording that Python holds.
struct held_recording {
    recording what;
};

/// Channels as a list of dictionaries, and back.
nb::list channel_dicts(const std::vector<recording_channel>& channels);
std::vector<recording_channel> channels_of(const nb::list& channels);

}  // namespace spikeweave::python
