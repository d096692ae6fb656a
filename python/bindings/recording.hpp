#pragma once

#include "given.hpp"
#include "spikeweave/record/detection.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::python {

/// A recording that Python holds.
struct held_recording {
    recording what;
};

/// Takes the options of the detector, under the names that they have on the command line.
void take_detection(given& how, detection_options& into);

}  // namespace spikeweave::python
