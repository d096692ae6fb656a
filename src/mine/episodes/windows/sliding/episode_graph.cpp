#include "mine/episodes/windows/sliding/episode_graph.hpp"

#include <algorithm>
#include <tuple>

namespace spikeweave::episodes {

episode_graph::episode_graph(std::size_t units) : episodes_(units) {
    for (std::uint32_t u = 0; u < units; ++u) episodes_[u].units = {unit_id{u}};
}

bool episode_graph::less(std::uint32_t a, std::uint32_t b) const {
    const followed_episode& one = episodes_[a];
    const followed_episode& other = episodes_[b];
    return std::tie(one.units, one.delays) < std::tie(other.units, other.delays);
}

std::uint32_t episode_graph::follow(std::uint32_t prefix, std::uint32_t delay,
                                    std::uint32_t suffix) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(episodes_.size()));
        episodes_.emplace_back();
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    followed_episode& one = episodes_[number];
    one = {.units = episodes_[prefix].units,
           .delays = episodes_[prefix].delays,
           .prefix = prefix,
           .suffix = suffix,
           .is_followed = true,
           .is_new = true};
    one.units.push_back(episodes_[suffix].units.back());
    one.delays.push_back(delay);
    episodes_[prefix].begins.push_back(number);
    episodes_[suffix].ends.push_back(number);
    return number;
}

void episode_graph::unfollow(std::uint32_t number) {
    followed_episode& one = episodes_[number];
    one.is_followed = false;
    if (one.size() == 1) return;
    std::erase(episodes_[one.prefix].begins, number);
    std::erase(episodes_[one.suffix].ends, number);
}

void episode_graph::remove(std::span<const std::uint32_t> numbers) {
    for (const std::uint32_t number : numbers) {
        episodes_[number] = {};
        free_.push_back(number);
    }
}

void episode_graph::wait(std::uint32_t suffix, const waiting_candidate& candidate) {
    followed_episode& there = episodes_[suffix];
    if (there.waiting.empty()) there.most_above = candidate.above();
    there.most_above = std::max(there.most_above, candidate.above());
    there.waiting.push_back(candidate);
}

}  // namespace spikeweave::episodes
