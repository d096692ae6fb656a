#pragma once

#include "device/cuda.hpp"
#include "mine/spade/devices/maxima_batch.hpp"
#include "mine/spade/devices/pattern_batch.hpp"
#include "mine/spade/devices/search_plan.hpp"

namespace spikeweave::spade {

/// Writes the words of all roots of a batch; those of its memory are zero before.
void fill_roots(const pattern_batch& batch, const device::stream& on);

/// Searches the tasks of a batch.
/// @param memory  of `plan.bytes()`
/// @param stop    the kernel ends early once this is not 0
void find_patterns(const pattern_batch& batch, const maxima_shape& shape, const search_plan& plan,
                   unsigned char* memory, const volatile int* stop, const device::stream& on);

/// Sets the bits of zeroed rasters.
void fill_rasters(const maxima_batch& batch, std::uint32_t* rasters, const device::stream& on);

/// Searches all recordings of a batch.
/// @param memory  of `plan.bytes()`
/// @param stop    the kernel ends early once this is not 0
void find_maxima(const maxima_batch& batch, const search_plan& plan, unsigned char* memory,
                 const volatile int* stop, const device::stream& on);

}  // namespace spikeweave::spade
