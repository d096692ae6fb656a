#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace spikeweave {

/// Takes from these channels of every frame the median of these channels; the others stay as they
/// are.
/// @param referenced  ascending, at least one
void subtract_medians(std::size_t channels, std::span<const std::uint32_t> referenced,
                      std::span<double> frames);

/// Replaces each frame by its product with a matrix, `[from * channels + to]`. Sums go in the order
/// of channels, whatever machine this is.
void whiten_frames(std::span<const float> matrix, std::size_t channels, std::span<float> frames);

}  // namespace spikeweave
