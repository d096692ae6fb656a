#pragma once

#include <memory>

#include "given.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::python {

/// A sequence that a long call may go on reading without the interpreter's lock.
struct shared_spikes {
    std::shared_ptr<const spike_sequence> sequence;
    /// Whether the span is what was recorded, and not only from the first spike to the last.
    bool states_span = true;
};

shared_spikes share(spike_sequence spikes, bool states_span = true);

}  // namespace spikeweave::python
