#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "spikeweave/record/recording.hpp"

namespace spikeweave::python {

namespace nb = nanobind;

/// Python has channels as a list of dictionaries.
nb::list channel_dicts(const std::vector<recording_channel>& channels);
std::vector<recording_channel> channels_of(const nb::list& channels);

}  // namespace spikeweave::python
