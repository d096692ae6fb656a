#include <algorithm>

#include "spikeweave/pipeline/spade/options.hpp"

namespace spikeweave {
namespace {

// One rule per size, from thresholds by size; the last one also holds for all larger sizes.
std::vector<pattern_rule> rules_by_size(const min_occ_by_size& given,
                                        const spade_options& options) {
    const std::uint32_t least = options.min_spikes.value_or(1);
    const std::uint32_t most = options.max_spikes > 0 ? options.max_spikes : UINT32_MAX;
    std::vector<pattern_rule> rules;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const bool last = i + 1 == given.size();
        const std::uint32_t from = std::max(given[i].first, least);
        const std::uint32_t to = std::min(last ? UINT32_MAX : given[i + 1].first - 1, most);
        if (from > to) continue;
        rules.push_back({.min_occ = given[i].second,
                         .min_spikes = from,
                         .max_spikes = to == UINT32_MAX ? 0 : to,
                         .min_neu = options.min_neu.value_or(1)});
    }
    return rules;
}

// A recording without spikes, or of length 0, has no rates; then the lowest threshold is used.
std::vector<pattern_rule> estimated_rules(const spade_options& options,
                                          std::span<const std::size_t> spike_counts,
                                          duration length) {
    min_occ_options recipe{.least_spikes = options.least_spikes()};
    const bool silent = std::ranges::all_of(spike_counts, [](auto count) { return count == 0; });
    if (silent || length == duration{0})
        return {{.min_occ = recipe.least_occ,
                 .min_spikes = options.least_spikes(),
                 .max_spikes = options.max_spikes,
                 .min_neu = options.min_neu.value_or(options.least_spikes())}};
    recipe.most_spikes = std::max(recipe.most_spikes, recipe.least_spikes);
    if (options.max_spikes > 0)
        recipe.most_spikes = std::min(recipe.most_spikes, options.max_spikes);
    std::vector<pattern_rule> rules =
        estimate_rules(spike_counts, length, options.bin, options.window, recipe);
    rules.back().max_spikes = options.max_spikes;
    for (pattern_rule& rule : rules) rule.min_neu = options.min_neu.value_or(rule.min_neu);
    return rules;
}

}  // namespace

std::vector<pattern_rule> rules_of(const spade_options& options,
                                   std::span<const std::size_t> spike_counts, duration length) {
    if (!options.rules.empty()) return options.rules;
    if (const auto* by_size = std::get_if<min_occ_by_size>(&options.min_occ))
        return rules_by_size(*by_size, options);
    if (const auto* number = std::get_if<std::uint32_t>(&options.min_occ))
        return {{.min_occ = *number,
                 .min_spikes = options.least_spikes(),
                 .max_spikes = options.max_spikes,
                 .min_neu = options.min_neu.value_or(1)}};
    return estimated_rules(options, spike_counts, length);
}

}  // namespace spikeweave
