#include <algorithm>

#include "pipeline/spade/search_and_test.hpp"
#include "spikeweave/assess/spade/tally.hpp"
#include "spikeweave/parallel/communicator.hpp"

namespace spikeweave {

using pipeline::search_result;

namespace {

std::vector<std::uint32_t> starts_of(const spade_windows& windows,
                                     std::span<const pattern_item> pattern) {
    std::vector<pattern_item> items(pattern.begin(), pattern.end());
    std::ranges::sort(items);
    std::vector<std::uint32_t> starts;
    for (std::size_t w = 0; w < windows.size(); ++w)
        if (std::ranges::includes(windows.items(w), items)) starts.push_back(windows.starts()[w]);
    return starts;
}

}  // namespace

spade_stream_result stream_spade(const spade_input& prepared, const spade_options& options,
                                 std::size_t most_kept,
                                 const std::function<void(const pattern_table& block)>& take,
                                 bool with_occurrences, const execution& run) {
    const std::vector<int> devices = pipeline::devices_of(options, run);
    pattern_tally tally(options.window, options.spectrum, most_kept);
    pattern_mining_options how = prepared.mining;
    how.with_occurrences = with_occurrences;
    const mining_summary summary = mine_patterns(
        prepared.windows, how,
        [&](const pattern_table& block) {
            tally.take(block);
            take(block);
        },
        pipeline::searching_data(options, run, devices));
    if (run.ranks && run.ranks->rank() > 0) return {};
    spade_stream_result out{.found = search_result(summary, prepared, options),
                            .patterns = tally.patterns(),
                            .numbers = tally.best_numbers()};
    out.found.options.run.devices = devices;
    out.found.signatures = tally.signatures();
    const pattern_table best = tally.best();
    for (std::size_t i = 0; i < best.size(); ++i)
        out.found.table.append(best.pattern(i), best.counts[i],
                               starts_of(prepared.windows, best.pattern(i)));
    return out;
}

}  // namespace spikeweave
