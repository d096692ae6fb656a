#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "mine/spade/catalogue.hpp"

namespace spikeweave::spade {

/// Tells whether some unit fires the same number of bins before every occurrence of a pattern, near
/// enough for one window to hold both. The pattern is then a part of a longer one with the same
/// occurrences, which Elephant's filter for moving windows drops (its grouping of patterns by
/// support comes to the same).
///
/// Each window has a signature, a set of hashes of the spikes before it: where the signatures of
/// all occurrences have nothing in common, nothing precedes them all. Nearly every pattern is
/// through after a few of them.
class preceding_spikes {
public:
    /// Knows nothing, and says that nothing precedes, unless `active` and there is a before.
    preceding_spikes(const catalogue& items, bool active, const std::stop_token& stop);

    bool active() const { return words_ > 0; }
    std::size_t bytes() const { return signatures_.size() * sizeof(std::uint64_t); }
    /// For the windows of a pattern of this duration in bins.
    bool precede_all(std::span<const std::uint32_t> windows, std::uint32_t duration) const;

private:
    // Calls take(bins before, first-bin item) for each spike before a window that can share a
    // window with its first `duration` + 1 bins, until it returns true; whether it did.
    template <class Take>
    bool any_before(std::uint32_t window, std::uint32_t duration, Take&& take) const;
    std::uint32_t hash(std::uint32_t before, catalogue::item_id item) const;

    static constexpr std::size_t most_words = 64;

    const catalogue& items_;
    std::size_t words_ = 0;  // of a signature
    std::vector<std::uint64_t> signatures_;
};

}  // namespace spikeweave::spade
