#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace spikeweave::record {

/// Subtracts from the given channels of every frame their median; the other channels are unchanged.
/// @param referenced  ascending, at least one
void subtract_medians(std::size_t channels, std::span<const std::uint32_t> referenced,
                      std::span<double> frames);

/// Replaces each frame by its product with a matrix, `[from * channels + to]`. Sums are taken in
/// the order of channels on every machine. Time grows with the weights that are not 0.
void whiten_frames(std::span<const float> matrix, std::size_t channels, std::span<float> frames);

}  // namespace spikeweave::record
