#pragma once

namespace spikeweave::device {

/// The number of threads that an NVIDIA GPU runs together, and the mask of all of them.
inline constexpr unsigned warp = 32;
inline constexpr unsigned whole_warp = 0xffffffff;

}  // namespace spikeweave::device
