#include "spikeweave/elephant/mining.hpp"

#include <algorithm>

namespace spikeweave {
namespace {

elephant_patterns mine(const spade_windows& windows, const elephant_mining_options& options,
                       const execution& run) {
    elephant_patterns out;
    out.table = mine_patterns(windows, options.mining, run).table;
    out.order = order_as_elephant(windows, out.table, options.rule(), run);
    return out;
}

}  // namespace

bool elephant_mining_options::is_impossible() const {
    const std::uint32_t most = rule().max_spikes;
    return (most > 0 && most < std::max(rule().min_spikes, rule().min_neu)) ||
           (mining.max_occ > 0 && mining.max_occ < rule().min_occ);
}

option_list describe(elephant_mining_options& options) {
    option_list list;
    list.add("winlen", options.window_bins, "length of a window, in bins");
    list.add_all(describe(options.mining.rules.front()));
    list.add("max_occ", options.mining.max_occ, "maximum number of occurrences");
    list.add("spectrum", options.spectrum, "signature of a pattern");
    return list;
}

elephant_patterns mine_as_elephant(const binned_spikes& spikes,
                                   const elephant_mining_options& options, const execution& run) {
    if (options.is_impossible()) return {};
    return mine(spade_windows(spikes, options.window_bins, run.stop), options, run);
}

elephant_patterns mine_as_elephant(const spade_windows& windows, elephant_mining_options options,
                                   const execution& run) {
    if (options.is_impossible()) return {};
    options.mining.drop_window_subsets = false;
    options.mining.take_identical_windows = false;
    return mine(windows, options, run);
}

std::vector<signature_count> count_as_elephant(const binned_spikes& spikes,
                                               const elephant_mining_options& options,
                                               const execution& run) {
    if (options.is_impossible()) return {};
    pattern_mining_options mining = options.mining;
    mining.with_occurrences = false;
    const spade_windows windows(spikes, options.window_bins, run.stop);
    return count_signatures(mine_patterns(windows, mining, run).table, options.spectrum);
}

}  // namespace spikeweave
