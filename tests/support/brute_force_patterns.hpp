#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "spikeweave/mine/spade.hpp"

/// SPADE's patterns straight from the definition, with sets of pairs: a closed pattern is
/// everything that some windows have in common. Only for a handful of windows.
class brute_force_patterns {
public:
    using spike = std::pair<std::uint32_t, std::uint32_t>;  // lag, unit
    using spikes = std::set<spike>;
    struct found {
        spikes pattern;
        std::set<std::uint32_t> starts;
    };

    /// Windows of binned spikes.
    brute_force_patterns(const spikeweave::binned_spikes& binned, std::uint32_t window_bins)
        : window_bins_(window_bins), from_bins_(true) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> raster;  // bin, unit
        for (std::uint32_t unit = 0; unit < binned.unit_count(); ++unit)
            for (const std::uint32_t bin : binned.bins(spikeweave::unit_id{unit}))
                raster.emplace(bin, unit);
        for (const auto& [start, ignored] : raster)
            for (const auto& [bin, unit] : raster)
                if (bin >= start && bin < start + window_bins)
                    windows_[start].emplace(bin - start, unit);
        find_closed();
    }
    /// Windows that are given, by number.
    brute_force_patterns(const std::vector<std::set<spikeweave::pattern_item>>& given,
                         std::uint32_t window_bins)
        : window_bins_(window_bins) {
        for (std::uint32_t w = 0; w < given.size(); ++w)
            for (const spikeweave::pattern_item item : given[w])
                windows_[w].emplace(item % window_bins, item / window_bins);
        find_closed();
    }

    spikeweave::pattern_mining_result mine(
        const spikeweave::pattern_mining_options& options) const {
        spikeweave::pattern_mining_result mined{.table = {.window_bins = window_bins_}};
        std::map<place, const found*> kept;
        for (const found& one : closed_) {
            if (!is_wanted(one.pattern, one.starts.size(), options)) continue;
            ++mined.summary.closed;
            if (options.drop_window_subsets && from_bins_ && window_bins_ > 1 &&
                is_window_subset(one.pattern, one.starts)) {
                ++mined.summary.window_subsets;
            } else if (options.max_occ > 0 && one.starts.size() > options.max_occ) {
                ++mined.summary.too_frequent;
            } else {
                kept[place_of(one.pattern)] = &one;
            }
        }
        for (const auto& [at, one] : kept)
            append(mined.table, one->pattern, one->starts, options.with_occurrences);
        return mined;
    }

    /// Every pattern that is closed, wanted or not.
    std::size_t closed_count() const { return closed_.size(); }

private:
    // The position of a pattern in a table: by its first spike, then by the others, each by the
    // windows that it shares with the first and then by time, the smallest first.
    using place = std::pair<spike, std::set<std::pair<std::size_t, spike>>>;
    place place_of(const spikes& pattern) const {
        place at{*pattern.begin(), {}};
        for (const spike& other : pattern) {
            if (other == at.first) continue;
            std::size_t together = 0;
            for (const auto& [start, window] : windows_)
                together += window.count(at.first) * window.count(other);
            at.second.emplace(together, other);
        }
        return at;
    }

    void find_closed() {
        std::set<spikes> common;
        for (const auto& [start, window] : windows_) {
            std::set<spikes> more{window};
            for (const spikes& other : common) {
                spikes both;
                std::set_intersection(window.begin(), window.end(), other.begin(), other.end(),
                                      std::inserter(both, both.end()));
                more.insert(std::move(both));
            }
            common.merge(more);
        }
        for (const spikes& pattern : common) {
            if (pattern.empty()) continue;
            found one{pattern, {}};
            for (const auto& [start, window] : windows_)
                if (std::includes(window.begin(), window.end(), pattern.begin(), pattern.end()))
                    one.starts.insert(start);
            closed_.push_back(std::move(one));
        }
    }

    static bool is_wanted(const spikes& pattern, std::size_t count,
                          const spikeweave::pattern_mining_options& options) {
        if (pattern.begin()->first != 0) return false;
        std::set<std::uint32_t> units;
        for (const auto& [lag, unit] : pattern) units.insert(unit);
        return std::any_of(options.rules.begin(), options.rules.end(), [&](const auto& rule) {
            return count >= rule.min_occ && pattern.size() >= rule.min_spikes &&
                   units.size() >= rule.min_neu &&
                   (rule.max_spikes == 0 || pattern.size() <= rule.max_spikes);
        });
    }

    // Whether a longer pattern that begins earlier contains this one at each of its occurrences,
    // and has no others.
    bool is_window_subset(const spikes& pattern, const std::set<std::uint32_t>& starts) const {
        for (const auto& [whole, whole_starts] : closed_) {
            if (whole_starts.size() != starts.size() || whole.begin()->first != 0) continue;
            for (std::uint32_t later = 1; later < window_bins_; ++later) {
                if (*whole_starts.begin() + later != *starts.begin()) continue;  // saves time only
                spikes moved;
                for (const auto& [lag, unit] : pattern) moved.emplace(lag + later, unit);
                std::set<std::uint32_t> moved_starts;
                for (const std::uint32_t start : whole_starts) moved_starts.insert(start + later);
                if (moved_starts == starts &&
                    std::includes(whole.begin(), whole.end(), moved.begin(), moved.end()))
                    return true;
            }
        }
        return false;
    }

    void append(spikeweave::pattern_table& table, const spikes& pattern,
                const std::set<std::uint32_t>& starts, bool with_occurrences) const {
        for (const auto& [lag, unit] : pattern) table.items.push_back(unit * window_bins_ + lag);
        table.item_offsets.push_back(table.items.size());
        table.counts.push_back(static_cast<std::uint32_t>(starts.size()));
        if (!with_occurrences) return;
        table.occurrences.insert(table.occurrences.end(), starts.begin(), starts.end());
        table.occurrence_offsets.push_back(table.occurrences.size());
    }

    std::uint32_t window_bins_;
    bool from_bins_ = false;
    std::map<std::uint32_t, spikes> windows_;  // by start
    std::vector<found> closed_;
};

/// The maxima from the patterns themselves.
inline spikeweave::occurrence_maxima maxima_of(const spikeweave::pattern_table& table,
                                               spikeweave::spectrum_kind kind) {
    const bool by_duration = kind == spikeweave::spectrum_kind::size_count_duration;
    spikeweave::occurrence_maxima maxima{.durations = by_duration ? table.window_bins : 1};
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::size_t column = by_duration ? table.duration(i) : 0;
        const std::size_t rows = table.pattern(i).size() + 1;
        maxima.most.resize(std::max(maxima.most.size(), rows * maxima.durations), 0);
        for (std::size_t row = 0; row < rows; ++row) {
            std::uint32_t& most = maxima.most[row * maxima.durations + column];
            most = std::max(most, table.counts[i]);
        }
    }
    return maxima;
}
