#pragma once

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Whether units fire more at the same times, on a scale of 100 ms (a millionth of
/// recordings that are longer than a day).
struct shared_rates {
    /// Variance of the number of spikes of all units in a bin over the sum of the units' variances:
    /// 1 on average where units are independent.
    double ratio;
    /// Five standard errors above 1, and above 1.5: not by chance, and enough to matter.
    bool certain;
};

shared_rates measure_shared_rates(const spike_sequence& spikes);

}  // namespace spikeweave
