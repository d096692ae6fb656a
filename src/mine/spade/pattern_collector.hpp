#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mine/spade/ranked_windows.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave::spade {

/// Whether a pattern of this count, size and number of different units is wanted, not asking
/// `max_spikes`.
bool passes(const pattern_rule& rule, std::size_t count, std::size_t size, std::size_t units);

/// What the search below one entry of the first header table found: the filter sits here, so that
/// nothing unwanted is ever stored. `max_spikes` is no part of it, because a pattern that is too
/// large still tells that its parts are not closed.
class pattern_collector {
public:
    /// @param rank  is in each pattern to come, as the largest
    pattern_collector(const spade_windows& windows, const ranked_windows& ranked,
                      std::span<const pattern_rule> rules, std::uint32_t rank);

    void add(std::span<const std::uint32_t> ranks, std::uint32_t count);
    /// What was kept, with occurrences.
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
    // Which of the windows with `rank_` have each smaller rank; made for the first pattern kept.
    std::size_t words_ = 0;
    std::vector<std::uint64_t> bits_;
    std::vector<std::uint64_t> common_;
    std::vector<std::uint32_t> starts_;
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> units_;
};

}  // namespace spikeweave::spade
