#pragma once

#include <cstddef>
#include <span>

namespace spikeweave {

/// Takes from every frame the median of its channels.
void subtract_medians(std::size_t channels, std::span<double> frames);

/// Replaces each frame by its product with a matrix, `[from * channels + to]`. Sums go in the order
/// of channels, whatever machine this is.
void whiten_frames(std::span<const float> matrix, std::size_t channels, std::span<float> frames);

}  // namespace spikeweave
