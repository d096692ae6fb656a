#include "pipeline/episodes/search_and_test.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "core/text.hpp"
#include "pipeline/same_units.hpp"

namespace spikeweave::pipeline {

std::optional<std::string> warning_of_untested_units(const spike_sequence& spikes,
                                                     const episode_table& table,
                                                     const episode_mining_options& asked) {
    if (asked.min_count || asked.min_fraction || asked.min_rate || asked.max_size == 1)
        return std::nullopt;
    std::vector<std::uint64_t> counts(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++counts[to_index(unit)];
    std::vector<char> is_tested(counts.size(), 0);
    for (const counted_episode& found : table.episodes)
        if (found.what.units.size() == 2 && found.what.units[0] != found.what.units[1])
            for (const unit_id unit : found.what.units) is_tested[to_index(unit)] = 1;
    std::size_t units = 0;
    std::vector<std::string> untested;
    for (std::uint32_t u = 0; u < counts.size(); ++u) {
        if (counts[u] < least_default_count) continue;
        ++units;
        if (is_tested[u] == 0) untested.push_back(spikes.name(unit_id{u}));
    }
    if (table.threshold <= least_default_count || untested.empty() || 4 * untested.size() < units)
        return std::nullopt;
    return fmt::format(
        "{} of {} units {} together with others too rarely to be tested: no pair of theirs has the "
        "{} occurrences that `min_count` is by default: {}. Nothing is known about their "
        "connections; "
        "`max_size` 2 with `min_count` {} tests more of them.",
        core::grouped(untested.size()), core::grouped(units),
        untested.size() == 1 ? "fires" : "fire", core::grouped(table.threshold),
        names_text(untested), least_default_count);
}

}  // namespace spikeweave::pipeline
