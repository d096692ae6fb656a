#pragma once

namespace spikeweave::parallel {

/// The number of this process among those of the launcher on the same host, from 0; 0 without a
/// launcher, or if it does not say.
int rank_on_host();

}  // namespace spikeweave::parallel
