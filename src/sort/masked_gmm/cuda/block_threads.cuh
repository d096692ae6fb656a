#pragma once

#include "device/warp.cuh"

namespace spikeweave::masked_gmm {

using device::warp;

/// The threads of a block, unless a kernel states otherwise.
inline constexpr unsigned threads = 256;
inline constexpr unsigned warps = threads / warp;

}  // namespace spikeweave::masked_gmm
