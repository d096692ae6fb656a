#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "record/filter/shift.hpp"
#include "spikeweave/record/preprocess.hpp"

namespace spikeweave::record {

/// The steps from samples to filtered traces.
struct trace_recipe {
    std::vector<band_section> sections{};
    std::size_t reach = 0;  ///< distance in frames over which a value affects others
    common_reference reference = common_reference::none;
    /// Channels, ascending, whose common median is subtracted from them; empty: none is subtracted.
    /// Dead channels are excluded, because they would then hold only the negative median.
    std::vector<std::uint32_t> referenced{};
    /// Undoes the motion of the tissue, on the CPU; null: it is left as it is.
    std::shared_ptr<const motion_shift> shift{};
    /// Weight of channel k in channel c: `[k * channels + c]`; empty: no whitening.
    std::vector<float> whitening{};
};

/// Noise is estimated from one frame in four.
constexpr std::size_t excerpt_step = 4;

}  // namespace spikeweave::record
