#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Counts patterns by signature from a stream of blocks, and keeps the largest of them.
class SPIKEWEAVE_API pattern_tally {
public:
    /// @param best  the number of patterns to keep: those with most spikes, then most occurrences
    pattern_tally(std::uint32_t window_bins, spectrum_kind kind, std::size_t best);
    ~pattern_tally();
    pattern_tally(const pattern_tally&) = delete;
    pattern_tally& operator=(const pattern_tally&) = delete;

    /// Adds the patterns of a block.
    void take(const pattern_table& block);
    std::uint64_t patterns() const;
    /// The signatures as `count_signatures` returns them.
    std::vector<signature_count> signatures() const;
    /// The patterns kept, without occurrences, in the order of their numbers.
    pattern_table best() const;
    /// The numbers of the patterns kept, among all patterns added, from 1.
    std::vector<std::uint64_t> best_numbers() const;

private:
    struct SPIKEWEAVE_LOCAL state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
