#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/random.hpp"
#include "spikeweave/spikes/bin_grid.hpp"

namespace spikeweave::assess {

/// Permutes the bins of a unit block by block.
class bin_shuffler {
public:
    /// @throws invalid_argument if the dither is shorter than a bin.
    bin_shuffler(const bin_grid& grid, const surrogate_options& options);

    /// @param bins  the bins of a unit, strictly ascending
    /// @param out   the same number of bins, strictly ascending
    void shuffle(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                 random_stream& random) const;

private:
    void shuffle_blocks(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
                        random_stream& random) const;
    void slide(std::span<const std::uint32_t> bins, std::vector<std::uint32_t>& out,
               random_stream& random) const;

    std::uint32_t bin_count_;
    std::uint32_t block_ = 0;
    bool sliding_;
};

}  // namespace spikeweave::assess
