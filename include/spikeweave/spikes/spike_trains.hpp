#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The same spikes grouped by unit (compressed rows), as needed by mining and file formats; built
/// once. 12 bytes per spike.
class SPIKEWEAVE_API spike_trains {
public:
    explicit spike_trains(const spike_sequence& sequence);

    std::size_t unit_count() const { return offsets_.size() - 1; }
    std::size_t size() const { return times_us_.size(); }
    /// Sorted, strictly increasing times of one unit, in microseconds.
    std::span<const std::int64_t> times_us(unit_id unit) const {
        return std::span{times_us_}.subspan(offsets_[to_index(unit)], count(unit));
    }
    /// The position of each of those spikes in the sequence.
    std::span<const std::uint32_t> positions(unit_id unit) const {
        return std::span{positions_}.subspan(offsets_[to_index(unit)], count(unit));
    }
    std::size_t count(unit_id unit) const {
        return offsets_[to_index(unit) + 1] - offsets_[to_index(unit)];
    }
    /// All units' times one after another, and the beginning of each unit: `unit_count() + 1`
    /// offsets.
    std::span<const std::int64_t> times_us() const { return times_us_; }
    std::span<const std::size_t> offsets() const { return offsets_; }

private:
    std::vector<std::size_t> offsets_;
    std::vector<std::int64_t> times_us_;
    std::vector<std::uint32_t> positions_;
};

}  // namespace spikeweave
