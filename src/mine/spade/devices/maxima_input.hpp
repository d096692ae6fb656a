#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/spade/devices/maxima_batch.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// The input of a device about recordings, in the arrays of `maxima_batch`.
struct maxima_input {
    maxima_shape shape{};
    std::vector<std::uint32_t> bins{};
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> roots{};
};
/// @param recordings  all with the same number of units, at least one
maxima_input maxima_input_of(std::span<const binned_spikes> recordings, std::uint32_t window_bins,
                             spectrum_kind kind);
/// Whether items of this shape can be packed.
bool can_be_packed(const maxima_shape& shape);

/// The options of a search of all recordings.
struct maxima_rules {
    std::vector<device_rule> rules{};
    std::uint32_t least_occ = 1;
    std::uint32_t max_occ = 0;
    bool drop_window_subsets = true;
};
maxima_rules maxima_rules_of(const pattern_mining_options& options);

/// The results of a device: the maxima of each recording, and which recordings it could not search.
struct maxima_output {
    std::vector<std::uint32_t> most{};
    std::vector<std::uint32_t> left_out{};

    occurrence_maxima of(std::size_t recording, const maxima_shape& shape) const;
};

}  // namespace spikeweave::spade
