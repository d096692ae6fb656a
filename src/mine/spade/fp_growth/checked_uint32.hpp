#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "spikeweave/core/error.hpp"

namespace spikeweave::spade {

/// The number of the next of this many things, in 32 bits; the largest value is reserved for
/// "none".
/// @throws invalid_argument, naming the things, if there are too many.
inline std::uint32_t checked_uint32(std::uint64_t before, std::string_view things) {
    constexpr std::uint64_t none = std::numeric_limits<std::uint32_t>::max();
    if (before >= none)
        throw invalid_argument(
            fmt::format("more than {} {} cannot be numbered: raise min_occ", none, things));
    return static_cast<std::uint32_t>(before);
}

}  // namespace spikeweave::spade
