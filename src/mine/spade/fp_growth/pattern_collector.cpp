#include "mine/spade/fp_growth/pattern_collector.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace spikeweave::spade {

bool passes(const pattern_rule& rule, std::size_t count, std::size_t size, std::size_t units) {
    return count >= rule.min_occ && size >= rule.min_spikes && units >= rule.min_neu;
}

pattern_collector::pattern_collector(const spade_windows& windows, const ranked_windows& ranked,
                                     std::span<const pattern_rule> rules, std::uint32_t rank)
    : windows_(&windows),
      ranked_(&ranked),
      rules_(rules),
      least_spikes_(std::numeric_limits<std::uint32_t>::max()),
      rank_(rank),
      table_{.window_bins = windows.window_bins()},
      words_((ranked.windows_with(rank).size() + 63) / 64) {
    for (const pattern_rule& rule : rules) least_spikes_ = std::min(least_spikes_, rule.min_spikes);
}

void pattern_collector::add(std::span<const std::uint32_t> ranks, std::uint32_t count) {
    if (!wanted(ranks, count)) return;
    find_starts(ranks);
    const std::uint32_t window_bins = table_.window_bins;
    std::sort(items_.begin(), items_.end(), [&](pattern_item a, pattern_item b) {
        return a % window_bins != b % window_bins ? a % window_bins < b % window_bins : a < b;
    });
    table_.append(items_, count, starts_);
}

// Also leaves the pattern's items and units in `items_` and `units_`.
bool pattern_collector::wanted(std::span<const std::uint32_t> ranks, std::uint32_t count) {
    if (ranks.size() < least_spikes_) return false;
    items_.clear();
    bool in_first_bin = false;
    for (const std::uint32_t rank : ranks) {
        items_.push_back(ranked_->item(rank));
        in_first_bin |= items_.back() % table_.window_bins == 0;
    }
    if (!in_first_bin) return false;
    units_.clear();
    for (const pattern_item item : items_) units_.push_back(item / table_.window_bins);
    std::sort(units_.begin(), units_.end());
    const auto units = std::unique(units_.begin(), units_.end()) - units_.begin();
    return std::any_of(rules_.begin(), rules_.end(), [&](const pattern_rule& rule) {
        return passes(rule, count, ranks.size(), static_cast<std::size_t>(units));
    });
}

void pattern_collector::find_bits() {
    bits_.assign(words_ * rank_, 0);
    const auto holders = ranked_->windows_with(rank_);
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (const std::uint32_t rank : ranked_->ranks_in(holders[i])) {
            if (rank >= rank_) break;
            bits_[rank * words_ + i / 64] |= std::uint64_t{1} << (i % 64);
        }
    }
}

void pattern_collector::find_starts(std::span<const std::uint32_t> ranks) {
    const auto holders = ranked_->windows_with(rank_);
    if (bits_.empty()) find_bits();
    common_.assign(words_, ~std::uint64_t{0});
    common_.back() >>= words_ * 64 - holders.size();
    for (const std::uint32_t rank : ranks) {
        if (rank == rank_) continue;
        for (std::size_t word = 0; word < words_; ++word)
            common_[word] &= bits_[rank * words_ + word];
    }
    starts_.clear();
    for (std::size_t word = 0; word < words_; ++word)
        for (std::uint64_t rest = common_[word]; rest != 0; rest &= rest - 1)
            starts_.push_back(windows_->starts()[holders[word * 64 + static_cast<std::size_t>(
                                                                         std::countr_zero(rest))]]);
}

}  // namespace spikeweave::spade
