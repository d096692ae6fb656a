#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave {

spike_blocks::~spike_blocks() = default;

}  // namespace spikeweave
