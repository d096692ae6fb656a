#include "spikeweave/assess/spade/support.hpp"

#include <mutex>
#include <span>

#include "parallel/parallel_for.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave {
namespace {

// Keeps the starts of windows that also hold this item.
void keep_with(std::vector<std::uint32_t>& starts, std::span<const std::uint32_t> bins,
               std::uint32_t lag) {
    auto bin = bins.begin();
    std::erase_if(starts, [&](std::uint32_t start) {
        while (bin != bins.end() && *bin < std::uint64_t{start} + lag) ++bin;
        return bin == bins.end() || *bin != std::uint64_t{start} + lag;
    });
}

}  // namespace

std::vector<std::uint32_t> count_patterns(const binned_spikes& spikes,
                                          const pattern_table& patterns) {
    std::vector<std::uint32_t> counts;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        const auto items = patterns.pattern(i);
        for (const pattern_item item : items)
            if (to_index(patterns.unit(item)) >= spikes.unit_count())
                throw invalid_argument("a pattern has a unit that the spikes lack");
        // The first item is in the first bin of its windows.
        const auto first = spikes.bins(patterns.unit(items.front()));
        std::vector<std::uint32_t> starts(first.begin(), first.end());
        for (const pattern_item item : items.subspan(1))
            keep_with(starts, spikes.bins(patterns.unit(item)), patterns.lag(item));
        counts.push_back(static_cast<std::uint32_t>(starts.size()));
    }
    return counts;
}

std::vector<pattern_support> test_support(const binned_spikes& spikes,
                                          const pattern_table& patterns,
                                          const surrogate_source& make, std::uint32_t surrogates,
                                          const execution& run) {
    if (surrogates == 0) throw invalid_argument("patterns are tested by at least one surrogate");
    const std::vector<std::uint32_t> counts = count_patterns(spikes, patterns);
    if (counts.empty()) return {};
    std::vector<std::uint64_t> sums(counts.size());
    std::vector<std::uint32_t> reached(counts.size());
    std::mutex adding;
    parallel::parallel_for(surrogates, run, "counting in surrogates", [&](std::size_t which) {
        const std::vector<std::uint32_t> found =
            count_patterns(make(static_cast<std::uint32_t>(which)), patterns);
        const std::lock_guard lock(adding);
        for (std::size_t i = 0; i < counts.size(); ++i) {
            sums[i] += found[i];
            reached[i] += found[i] >= counts[i] ? 1 : 0;
        }
    });
    std::vector<pattern_support> out;
    for (std::size_t i = 0; i < counts.size(); ++i)
        out.push_back({counts[i], static_cast<double>(sums[i]) / surrogates,
                       (1.0 + reached[i]) / (1.0 + surrogates)});
    return out;
}

}  // namespace spikeweave
