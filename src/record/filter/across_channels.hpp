#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Subtracts from the given channels of every frame their median; the other channels are unchanged.
/// @param referenced  ascending, at least one
void subtract_medians(std::size_t channels, std::span<const std::uint32_t> referenced,
                      std::span<double> frames);

/// Replaces frames by their products with a matrix. Sums are taken in the order of channels on
/// every machine. Time grows with the weights that are not 0.
class whitener {
public:
    /// @param matrix  `[from * channels + to]`
    whitener(std::span<const float> matrix, std::size_t channels);

    void apply(std::span<float> frames) const;

    /// Channels that are made together, and those from which they are made: all others have no
    /// weight.
    struct tile {
        std::size_t first = 0;
        std::size_t columns = 0;
        std::vector<std::uint32_t> sources{};
        std::vector<float> weights{};  ///< of as many columns as a tile has at most, by source
    };

private:
    std::size_t channels_;
    std::vector<tile> tiles_{};
};

/// Channels are whitened together with at most this many.
constexpr std::size_t most_whitened_together = 32;

/// The weights by which noise becomes uncorrelated between channels, `[from * channels + to]`: the
/// symmetric inverse square root of the covariance of quiet frames. With more channels than
/// `together`, each one's weights are those among the channels nearest to it, from the covariances
/// of pairs: memory and time then grow with the number of channels. Dead channels have no weight.
/// @param traces  some frames of each channel
/// @param noise   of each channel
/// @throws invalid_argument if no frame is quiet; cancelled.
std::vector<float> whitening_of(std::span<const std::vector<float>> traces,
                                std::span<const double> noise,
                                const std::vector<recording_channel>& channels,
                                const execution& run,
                                std::size_t together = most_whitened_together);

}  // namespace spikeweave::record
