#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Numbers of patterns by signature, and the largest of them, from a stream of blocks.
class pattern_tally {
public:
    /// @param best  how many patterns to keep: most spikes first, then most occurrences
    pattern_tally(std::uint32_t window_bins, spectrum_kind kind, std::size_t best);
    ~pattern_tally();
    pattern_tally(const pattern_tally&) = delete;
    pattern_tally& operator=(const pattern_tally&) = delete;
    pattern_tally(pattern_tally&&) = delete;
    pattern_tally& operator=(pattern_tally&&) = delete;

    void take(const pattern_table& block);
    std::uint64_t patterns() const;
    /// As `count_signatures` gives them.
    std::vector<signature_count> signatures() const;
    /// In the order of their numbers, which count from 1; without occurrences.
    pattern_table best() const;
    std::vector<std::uint64_t> best_numbers() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace spikeweave
