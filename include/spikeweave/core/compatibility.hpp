#pragma once

#include <cstdint>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"

namespace spikeweave {

/// Whether to do as Elephant does where it differs from the published definitions: in the bins of
/// spikes, the trials at the end of a recording, tests, reduction. Elephant computes bins in the
/// unit of time of its spike trains, so there are two ways to follow it; only bins differ between
/// them.
enum class compatibility : std::uint8_t {
    none,
    elephant,     ///< as Elephant with spike trains in seconds and a bin in milliseconds
    elephant_ms,  ///< as Elephant with spike trains in milliseconds
};
template <>
SPIKEWEAVE_API enum_table<compatibility> enum_names<compatibility>();

constexpr bool follows_elephant(compatibility compat) {
    return compat != compatibility::none;
}

}  // namespace spikeweave
