#pragma once

#include <memory>

#include "given.hpp"
#include "synfire/spikes/spike_sequence.hpp"

namespace synfire::python {

/// A sequence that a long call may go on reading without the interpreter's lock.
struct shared_spikes {
    std::shared_ptr<const spike_sequence> sequence;
};

shared_spikes share(spike_sequence spikes);

}  // namespace synfire::python
