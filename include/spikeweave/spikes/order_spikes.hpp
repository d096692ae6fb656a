#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// A sequence made of spikes in any order.
struct ordered_spikes {
    spike_sequence spikes{};
    std::size_t duplicates = 0;  ///< spikes that were listed more than once are kept once
    repeated_begins begins{};    ///< whether the spikes were listed by trials
};

/// Orders spikes that are given by their times in seconds and their units.
/// @param start,stop  the span, which contains every spike; if not set, that of the spikes
/// @throws invalid_argument if a time is not finite or out of the span, or as the constructor of
/// `spike_sequence`.
SPIKEWEAVE_API ordered_spikes order_spikes(std::span<const double> seconds,
                                           std::span<const std::uint32_t> units,
                                           std::vector<std::string> unit_names,
                                           std::optional<duration> start,
                                           std::optional<duration> stop);

}  // namespace spikeweave
