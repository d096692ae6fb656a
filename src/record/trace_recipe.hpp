#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spikeweave/record/preprocess.hpp"

namespace spikeweave {

/// How filtered traces come out of samples.
struct trace_recipe {
    std::vector<band_section> sections{};
    std::size_t reach = 0;  ///< frames around a value that change it
    common_reference reference = common_reference::none;
    /// Channels, ascending, that share a median which is taken from them; empty: none is taken. A
    /// dead channel is none of them: what is taken from it would be all that it has.
    std::vector<std::uint32_t> referenced{};
    /// Channel c takes so much of channel k: `[k * channels + c]`; empty: it stays as it is.
    std::vector<float> whitening{};
};

/// Noise is estimated from one frame in so many.
constexpr std::size_t excerpt_step = 4;

}  // namespace spikeweave
