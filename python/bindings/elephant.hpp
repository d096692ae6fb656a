#pragma once

#include <cstddef>
#include <vector>

#include "arrays.hpp"
#include "keyword_arguments.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave::python {

/// Unit i fires in bins[offsets[i]:offsets[i + 1]].
binned_spikes binned_of(const array_in<std::uint64_t>& offsets, const array_in<std::uint32_t>& bins,
                        std::uint32_t bin_count);

/// What Elephant's SPADE asks of patterns.
struct elephant_mining {
    std::uint32_t window_bins = 1;
    pattern_mining_options options{.take_identical_windows = true};
    spectrum_kind kind = spectrum_kind::size_count;
    /// No pattern can be as wanted, which Elephant does not take for an error.
    bool is_impossible = false;

    const pattern_rule& rule() const { return options.rules.front(); }
};
elephant_mining take_mining(keyword_arguments& how);

}  // namespace spikeweave::python
