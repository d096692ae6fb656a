#pragma once

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assess {

/// Whether the rates of the units rise at the same times, on a scale of 100 ms (or of the shortest
/// epoch, if that is shorter, or a millionth of the recording, if it is longer than a day).
struct shared_rates {
    /// The variance of the number of spikes of all units in a bin, divided by the sum of the units'
    /// variances: 1 on average if the units are independent.
    double ratio;
    /// Whether this is five standard errors above 1 and above 1.5: not by chance, and large enough
    /// to matter.
    bool certain;
};

shared_rates measure_shared_rates(const spike_sequence& spikes);

}  // namespace spikeweave::assess
