#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "mine/episodes/devices/device_set.hpp"
#include "mine/episodes/hybrid/hybrid.hpp"
#include "mine/episodes/search/spikes_per_unit.hpp"
#include "mine/episodes/search/strategy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {

void episodes::check_episode(const episode& what, std::size_t number, std::size_t unit_count) {
    if (what.units.empty() || what.delays.size() + 1 != what.units.size())
        throw invalid_argument(fmt::format(
            "episode {} has {} units and {} delays: one delay between two units is needed", number,
            what.units.size(), what.delays.size()));
    for (const unit_id unit : what.units) {
        if (to_index(unit) >= unit_count)
            throw invalid_argument(fmt::format("episode {} has unit {}, but there are {} units",
                                               number, to_index(unit), unit_count));
    }
}

episode_count_result count_episodes(const spike_sequence& spikes, std::span<const episode> given,
                                    const episode_count_options& options, const execution& run) {
    // Counters take lists of candidates of one size, with numbered delays.
    std::vector<episodes::interval_us> intervals;
    std::map<delay_interval, std::uint32_t> number_of;
    duration reach{0};
    std::map<std::size_t, std::vector<std::size_t>> by_size;
    for (std::size_t i = 0; i < given.size(); ++i) {
        episodes::check_episode(given[i], i, spikes.unit_count());
        by_size[given[i].size()].push_back(i);
        for (const delay_interval& d : given[i].delays) {
            reach = std::max(reach, d.high);
            if (number_of.try_emplace(d, static_cast<std::uint32_t>(intervals.size())).second)
                intervals.push_back(episodes::checked_interval(d));
        }
    }

    episode_count_result result{std::vector<std::uint64_t>(given.size()),
                                episodes::chosen(options.strategy, run), 0, run.devices};
    result.compacted_by = episodes::chosen(options.compaction, result.ran_on, run);
    if (result.ran_on == episode_strategy::hybrid)
        result.warnings = episodes::warnings_of_hybrid(run.devices);
    const separated_epochs apart(spikes, reach);
    const episodes::counting_problem problem{apart.spikes(), intervals,          options.ties, run,
                                             options.split,  result.compacted_by};
    episodes::check_split(options.split, result.ran_on);
    std::optional<episodes::device_set> devices;
    if (!run.devices.empty()) devices.emplace(problem);
    for (const auto& [size, which] : by_size) {
        if (size == 1) {
            const std::vector<std::uint64_t> spikes_of = episodes::spikes_per_unit(spikes, run);
            for (const std::size_t i : which)
                result.counts[i] = spikes_of[to_index(given[i].units[0])];
            continue;
        }
        episodes::candidate_set candidates{size};
        for (const std::size_t i : which) {
            candidates.units.insert(candidates.units.end(), given[i].units.begin(),
                                    given[i].units.end());
            for (const delay_interval& d : given[i].delays)
                candidates.delays.push_back(number_of.at(d));
        }
        const auto counted =
            devices ? episodes::count_on_devices(devices->problems(),
                                                 episodes::device_counter_of(result.ran_on),
                                                 candidates, options.at_least)
                    : episodes::counter_of(result.ran_on)(problem, candidates, options.at_least);
        for (std::size_t k = 0; k < which.size(); ++k) result.counts[which[k]] = counted.counts[k];
        result.merge_misses += counted.merge_misses;
        result.kernel_seconds += counted.kernel_seconds;
    }
    return result;
}

}  // namespace spikeweave
