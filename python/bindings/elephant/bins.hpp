#pragma once

#include "bindings/core/arrays.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave::python {

/// Unit i fires in bins[offsets[i]:offsets[i + 1]].
binned_spikes binned_of(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                        std::uint32_t bin_count);

}  // namespace spikeweave::python
