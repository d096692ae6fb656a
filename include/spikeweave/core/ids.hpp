#pragma once

#include <cstddef>
#include <cstdint>

namespace spikeweave {

/// Identifies one sorted neuron (or, in unsorted data, one electrode) as an index into
/// `spike_sequence::unit_names`.
enum class unit_id : std::uint32_t {};

/// Returns the index of `unit` in `spike_sequence::unit_names`.
constexpr std::size_t to_index(unit_id unit) {
    return static_cast<std::size_t>(unit);
}

}  // namespace spikeweave
