#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "mine/spade/first_bin/item_index.hpp"

namespace spikeweave::spade {

/// Finds whether some unit fires the same number of bins before every occurrence of a pattern,
/// close enough for one window to contain both. The pattern is then part of a longer one with the
/// same occurrences, and Elephant's filter for moving windows drops it (its grouping of patterns by
/// support has the same effect).
///
/// Each window has a signature, a set of hashes of the spikes before it. If the signatures of all
/// occurrences have nothing in common, no spike precedes them all. For nearly every pattern, a few
/// signatures are enough to show this.
class preceding_spikes {
public:
    /// Always answers that no spike precedes, unless `active` and the windows were made from bins.
    preceding_spikes(const item_index& items, bool active, const std::stop_token& stop);

    bool active() const { return words_ > 0; }
    std::size_t bytes() const { return signatures_.size() * sizeof(std::uint64_t); }
    /// Whether a spike precedes all windows of a pattern of this duration in bins.
    bool precede_all(std::span<const std::uint32_t> windows, std::uint32_t duration) const;

private:
    // Calls take(bins before, first-bin item) for each spike before a window that can share a
    // window with its first `duration` + 1 bins, until it returns true; returns whether it did.
    template <class Take>
    bool any_before(std::uint32_t window, std::uint32_t duration, Take&& take) const;
    std::uint32_t hash(std::uint32_t before, item_index::item_id item) const;

    static constexpr std::size_t most_words = 64;

    const item_index& items_;
    std::size_t words_ = 0;  // length of a signature
    std::vector<std::uint64_t> signatures_;
};

}  // namespace spikeweave::spade
