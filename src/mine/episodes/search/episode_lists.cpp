#include "mine/episodes/search/episode_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "mine/episodes/search/strategy.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {

void check_episode(const episode& what, std::size_t number, std::size_t unit_count) {
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

episode_lists::episode_lists(std::span<const episode> episodes, std::size_t unit_count) {
    std::map<delay_interval, std::uint32_t> number_of;
    std::map<std::size_t, list> by_size;
    for (std::size_t i = 0; i < episodes.size(); ++i) {
        const episode& one = episodes[i];
        check_episode(one, i, unit_count);
        list& to = by_size[one.size()];
        to.candidates.size = one.size();
        to.which.push_back(i);
        to.candidates.units.insert(to.candidates.units.end(), one.units.begin(), one.units.end());
        for (const delay_interval& d : one.delays) {
            reach = std::max(reach, d.high);
            const auto [place, is_new] =
                number_of.try_emplace(d, static_cast<std::uint32_t>(intervals.size()));
            if (is_new) intervals.push_back(checked_interval(d));
            to.candidates.delays.push_back(place->second);
        }
    }
    lists.reserve(by_size.size());
    for (auto& [size, one] : by_size) lists.push_back(std::move(one));
}

}  // namespace spikeweave::episodes
