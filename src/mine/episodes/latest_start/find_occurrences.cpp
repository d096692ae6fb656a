// Latest-start counting that also keeps, for every survivor, the survivor that it follows, so that
// each counted occurrence can be traced back to its first spike.

#include "mine/episodes/search/strategy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave {
namespace {

struct linked_survivor {
    std::uint32_t spike;     // index in its unit's train
    std::uint32_t previous;  // index in the list of the previous node
    std::uint32_t start;     // latest start, in the first unit's train
};

std::vector<std::vector<linked_survivor>> linked_lists(const spike_trains& trains,
                                                       const episode& what) {
    std::vector<std::vector<linked_survivor>> lists(what.size());
    for (std::uint32_t i = 0; i < trains.count(what.units[0]); ++i) lists[0].push_back({i, 0, i});
    for (std::size_t node = 1; node < what.size(); ++node) {
        const auto before = trains.times_us(what.units[node - 1]);
        const auto times = trains.times_us(what.units[node]);
        const auto [low, high] = episodes::checked_interval(what.delays[node - 1]);
        std::uint32_t eligible = 0;
        for (std::uint32_t i = 0; i < times.size(); ++i) {
            const auto& prefix = lists[node - 1];
            while (eligible < prefix.size() && before[prefix[eligible].spike] < times[i] - low)
                ++eligible;
            if (eligible > 0 && times[i] - before[prefix[eligible - 1].spike] <= high)
                lists[node].push_back({i, eligible - 1, prefix[eligible - 1].start});
        }
    }
    return lists;
}

}  // namespace

std::vector<std::vector<std::int64_t>> find_occurrences(const spike_sequence& spikes,
                                                        const episode& what, tie_rule ties) {
    if (what.units.empty() || what.delays.size() + 1 != what.units.size())
        throw invalid_argument("an episode needs one delay between two units");
    const separated_epochs apart(spikes, episodes::longest_delay(what.delays));
    const spike_trains trains(apart.spikes());
    const auto lists = linked_lists(trains, what);
    const auto order_key = [&](unit_id unit, std::uint32_t spike) -> std::int64_t {
        return ties == tie_rule::time ? trains.times_us(unit)[spike]
                                      : trains.positions(unit)[spike];
    };
    std::vector<std::vector<std::int64_t>> found;
    std::int64_t last_end = INT64_MIN;
    for (const linked_survivor& end : lists.back()) {
        if (order_key(what.units.front(), end.start) <= last_end) continue;
        last_end = order_key(what.units.back(), end.spike);
        std::vector<std::int64_t>& times = found.emplace_back(what.size());
        linked_survivor at = end;
        for (std::size_t node = what.size(); node-- > 0;) {
            const duration time{trains.times_us(what.units[node])[at.spike]};
            times[node] = apart.original(time).count();
            if (node > 0) at = lists[node - 1][at.previous];
        }
    }
    return found;
}

}  // namespace spikeweave
