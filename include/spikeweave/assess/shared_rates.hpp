#pragma once

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

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

SPIKEWEAVE_API shared_rates measure_shared_rates(const spike_sequence& spikes);

/// Whether the units' rates also change together within cells of this width, that is, faster than
/// a test preserves that keeps the number of spikes in every cell. The ratio is that of the
/// variances among the three thirds of a cell. It is certain if it is three standard errors above 1
/// and above 2, because connections raise it as well: those of Sym26 to 1.7 in cells of 60 ms.
SPIKEWEAVE_API shared_rates measure_rates_within_cells(const spike_sequence& spikes,
                                                       duration width);

}  // namespace spikeweave
