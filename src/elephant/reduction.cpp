#include "spikeweave/elephant/reduction.hpp"

#include <numeric>

namespace spikeweave {

option_list describe(elephant_reduction_options& options) {
    reduction_options& reduction = options.reduction;
    option_list list;
    list.add("winlen", options.window_bins, "length of a window, in bins");
    list.add("spectrum", reduction.spectrum, "signature of a pattern");
    list.add("min_spikes", reduction.min_spikes, "minimum number of spikes in a pattern");
    list.add("min_occ", reduction.min_occ, "minimum number of occurrences");
    return list;
}

std::vector<std::size_t> reduce_as_elephant(pattern_table table,
                                            std::span<const pattern_signature> not_significant,
                                            const elephant_reduction_options& options,
                                            const execution& run) {
    table.window_bins = options.window_bins;
    const auto& offsets = table.occurrence_offsets;
    table.counts.clear();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        table.counts.push_back(static_cast<std::uint32_t>(offsets[i + 1] - offsets[i]));
    std::vector<std::size_t> list(table.counts.size());
    std::iota(list.begin(), list.end(), std::size_t{0});
    return reduce_patterns(table, list, not_significant, options.reduction, run).kept;
}

}  // namespace spikeweave
