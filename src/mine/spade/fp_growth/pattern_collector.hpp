#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/spade/fp_growth/ranked_windows.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// Whether a pattern of this count, size and number of different units meets a rule, apart from
/// `max_spikes`.
bool passes(const pattern_rule& rule, std::size_t count, std::size_t size, std::size_t units);

/// Collects the patterns found by the search below one entry of the first header table. It filters,
/// so that unwanted patterns are never stored. The filter ignores `max_spikes`, because a pattern
/// that is too large still shows that its parts are not closed.
class pattern_collector {
public:
    /// @param rank  the largest rank in each pattern that follows
    pattern_collector(const spade_windows& windows, const ranked_windows& ranked,
                      std::span<const pattern_rule> rules, std::uint32_t rank);

    void add(std::span<const std::uint32_t> ranks, std::uint32_t count);
    /// The patterns kept, with occurrences.
    pattern_table& table() { return table_; }

private:
    bool wanted(std::span<const std::uint32_t> ranks, std::uint32_t count);
    void find_bits();
    void find_starts(std::span<const std::uint32_t> ranks);

    const spade_windows* windows_;
    const ranked_windows* ranked_;
    std::span<const pattern_rule> rules_;
    std::uint32_t least_spikes_;
    std::uint32_t rank_;
    pattern_table table_;
    // For each smaller rank, the windows with `rank_` that also have it; made when the first
    // pattern is kept.
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint64_t> common_;
    std::vector<std::uint32_t> starts_;
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> units_;
};

}  // namespace spikeweave::spade
