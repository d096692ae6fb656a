#pragma once

#include <functional>
#include <memory>

#include "mine/spade/devices/pattern_device.hpp"
#include "mine/spade/search/miners.hpp"

namespace spikeweave::spade {

/// Opens the device for a recording; null if its memory is too small.
using device_opener = std::function<std::unique_ptr<pattern_device>(const pattern_recording&)>;

/// `mine_first_bin` on a device, without ranks. The threads of `run` search the parts that a device
/// cannot.
mining_summary mine_on_device(const device_opener& open, const spade_windows& windows,
                              const pattern_mining_options& options, const block_taker& take,
                              const execution& run);

}  // namespace spikeweave::spade
