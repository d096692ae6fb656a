#pragma once

#include <functional>
#include <memory>
#include <span>

#include "mine/spade/devices/maxima_device.hpp"
#include "spikeweave/mine/spade/many_maxima.hpp"

namespace spikeweave::spade {

/// `find_maxima_on_devices` on these devices, each with its own thread. All but one of the threads
/// of `run` search as well.
void search_many(std::span<const std::unique_ptr<maxima_device>> devices,
                 const many_recordings& what, const pattern_mining_options& options,
                 spectrum_kind kind, const maxima_taker& take, const execution& run);

}  // namespace spikeweave::spade
