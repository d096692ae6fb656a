#pragma once

#include <functional>
#include <memory>
#include <span>

#include "mine/spade/devices/maxima_device.hpp"
#include "mine/spade/devices/pattern_device.hpp"
#include "mine/spade/search/miners.hpp"
#include "spikeweave/mine/spade/many_maxima.hpp"

namespace spikeweave::spade {

/// Opens the device for a recording; null if its memory is too small.
using device_opener = std::function<std::unique_ptr<pattern_device>(const pattern_recording&)>;

/// `mine_first_bin` on a device, without ranks. The threads of `run` search the parts that a device
/// cannot.
mining_summary mine_on_device(const device_opener& open, const spade_windows& windows,
                              const pattern_mining_options& options, const block_taker& take,
                              const execution& run);

/// `find_maxima_on_devices` on these devices, each with a thread of its own. All but one of the
/// threads of `run` search as well.
void search_many(std::span<const std::unique_ptr<maxima_device>> devices,
                 const many_recordings& what, const pattern_mining_options& options,
                 spectrum_kind kind, const maxima_taker& take, const execution& run);

}  // namespace spikeweave::spade
