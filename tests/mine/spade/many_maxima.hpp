#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "spikeweave/mine/spade/many_maxima.hpp"

namespace spikeweave {

/// Braces draw its two numbers in this order, which the arguments of a call would not.
struct recording_size {
    std::uint32_t units;
    std::uint32_t bins;
};

/// Low thresholds make a search of many bins endless.
struct drawn_thresholds {
    std::uint32_t least = 1;
    std::uint32_t most;
};

/// Random recordings and rules for the search of many recordings.
class random_searches {
public:
    explicit random_searches(std::uint64_t seed) : random_(seed) {}

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool chance(std::uint32_t percent) { return below(100) < percent; }

    /// Units with different rates, some silent. Stretches are repeated, so that patterns recur.
    binned_spikes recording(std::uint32_t units, std::uint32_t bins, std::uint32_t most_percent) {
        std::vector<std::vector<bool>> raster(units, std::vector<bool>(bins, false));
        for (auto& row : raster) {
            const std::uint32_t percent = chance(10) ? 0 : below(most_percent + 1);
            for (std::uint32_t bin = 0; bin < bins; ++bin) row[bin] = chance(percent);
        }
        for (std::uint32_t copies = below(4); copies > 0 && bins > 4; --copies) {
            const std::uint32_t length = 1 + below(bins / 4);
            const std::uint32_t from = below(bins - length + 1);
            const std::uint32_t to = below(bins - length + 1);
            for (auto& row : raster)
                for (std::uint32_t i = 0; i < length; ++i) row[to + i] = row[from + i];
        }
        std::vector<std::size_t> offsets{0};
        std::vector<std::uint32_t> fired;
        for (const auto& row : raster) {
            for (std::uint32_t bin = 0; bin < bins; ++bin)
                if (row[bin]) fired.push_back(bin);
            offsets.push_back(fired.size());
        }
        return {std::move(offsets), std::move(fired), bins};
    }

    pattern_mining_options options(std::uint32_t units, const drawn_thresholds& occ) {
        pattern_mining_options some{
            .rules = {}, .drop_window_subsets = chance(70), .take_identical_windows = chance(20)};
        for (std::uint32_t i = 0; i <= below(3); ++i) {
            pattern_rule rule{.min_occ = occ.least + below(occ.most - occ.least + 1),
                              .min_spikes = 1 + below(5),
                              .min_neu = chance(50) ? 1 : 1 + below(units)};
            if (chance(40)) rule.max_spikes = std::max(rule.min_spikes, rule.min_neu) + below(3);
            some.rules.push_back(rule);
        }
        if (chance(30)) {
            for (const pattern_rule& rule : some.rules)
                some.max_occ = std::max(some.max_occ, rule.min_occ);
            some.max_occ += below(3);
        }
        return some;
    }

private:
    std::mt19937_64 random_;
};

/// The results of the CPU in each recording.
inline std::map<std::uint32_t, occurrence_maxima> maxima_on_cpu(
    const std::vector<binned_spikes>& recordings, std::uint32_t window_bins,
    const pattern_mining_options& options, spectrum_kind kind) {
    std::map<std::uint32_t, occurrence_maxima> out;
    for (std::uint32_t i = 0; i < recordings.size(); ++i)
        out[i] = find_occurrence_maxima(spade_windows(recordings[i], window_bins), options, kind);
    return out;
}

inline std::string described(const pattern_mining_options& options) {
    std::string text = "max_occ " + std::to_string(options.max_occ) + " drop " +
                       std::to_string(options.drop_window_subsets);
    for (const pattern_rule& rule : options.rules)
        text += "; " + std::to_string(rule.min_occ) + ":" + std::to_string(rule.min_spikes) + ":" +
                std::to_string(rule.min_neu) + ":" + std::to_string(rule.max_spikes);
    return text;
}

}  // namespace spikeweave
