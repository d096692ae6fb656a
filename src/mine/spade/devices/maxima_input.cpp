#include "mine/spade/devices/maxima_input.hpp"

#include <algorithm>
#include <numeric>

#include "mine/spade/first_bin/rule_set.hpp"

namespace spikeweave::spade {
namespace {

// Units with most spikes are first: their patterns are likely to have the largest counts, and to
// save the search others.
void append_roots(const binned_spikes& recording, std::vector<std::uint32_t>& roots) {
    const auto begin = static_cast<std::ptrdiff_t>(roots.size());
    roots.resize(roots.size() + recording.unit_count());
    std::iota(roots.begin() + begin, roots.end(), 0U);
    std::stable_sort(roots.begin() + begin, roots.end(), [&](std::uint32_t a, std::uint32_t b) {
        return recording.bins(unit_id{a}).size() > recording.bins(unit_id{b}).size();
    });
}

}  // namespace

maxima_input maxima_input_of(std::span<const binned_spikes> recordings, std::uint32_t window_bins,
                             spectrum_kind kind) {
    maxima_input out;
    maxima_shape& shape = out.shape;
    shape.recordings = static_cast<std::uint32_t>(recordings.size());
    shape.units = static_cast<std::uint32_t>(recordings.front().unit_count());
    shape.window_bins = window_bins;
    shape.durations = kind == spectrum_kind::size_count_duration ? window_bins : 1;
    shape.pad_words = window_bins / 32 + 1;
    std::uint32_t bin_count = 0;
    for (const binned_spikes& recording : recordings) {
        bin_count = std::max(bin_count, recording.bin_count());
        for (std::uint32_t unit = 0; unit < shape.units; ++unit) {
            const auto bins = recording.bins(unit_id{unit});
            out.bins.insert(out.bins.end(), bins.begin(), bins.end());
            out.offsets.push_back(out.bins.size());
            shape.most_windows =
                std::max(shape.most_windows, static_cast<std::uint32_t>(bins.size()));
        }
        append_roots(recording, out.roots);
    }
    // A window may begin in the last bin, and bits are read two words at a time.
    shape.row_words = 2 * shape.pad_words + bin_count / 32 + 2;
    return out;
}

bool can_be_packed(const maxima_shape& shape) {
    return shape.units > 0 && shape.units < packed_item::most_units &&
           shape.window_bins < packed_item::most_lags;
}

maxima_rules maxima_rules_of(const pattern_mining_options& options) {
    const rule_set rules(options.rules);
    maxima_rules out{.least_occ = rules.least_occ(),
                     .max_occ = options.max_occ,
                     .drop_window_subsets = options.drop_window_subsets};
    for (const pattern_rule& rule : rules.rules())
        out.rules.push_back({rule.min_occ, rule.min_spikes, rule.max_spikes, rule.min_neu});
    return out;
}

occurrence_maxima maxima_output::of(std::size_t recording, const maxima_shape& shape) const {
    const auto begin = most.begin() + static_cast<std::ptrdiff_t>(recording * shape.maxima());
    const auto found = [](std::uint32_t count) { return count > 0; };
    std::ptrdiff_t sizes = maxima_shape::sizes;
    while (sizes > 0 && std::none_of(begin + (sizes - 1) * shape.durations,
                                     begin + sizes * shape.durations, found))
        --sizes;
    return {shape.durations, {begin, begin + sizes * shape.durations}};
}

}  // namespace spikeweave::spade
