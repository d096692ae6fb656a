#include "mine/episodes/detector/survivor_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mine/episodes/search/strategy.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
namespace {

void check(const armed_episode& armed, std::size_t number, std::size_t unit_count) {
    check_episode(armed.what, number, unit_count);
    if (armed.fire_at > armed.what.size())
        throw invalid_argument(
            fmt::format("episode {} has {} spikes and cannot be detected at spike {}", number,
                        armed.what.size(), armed.fire_at));
}

}  // namespace

prefix_trie::prefix_trie(std::span<const armed_episode> armed, std::size_t unit_count)
    : roots_(unit_count, no_node) {
    using edge = std::pair<std::uint32_t, delay_interval>;  // node before and delay
    std::vector<std::map<edge, std::uint32_t>> edges(unit_count);
    const auto new_node = [&](std::size_t spikes) {
        nodes_.push_back({.spikes = spikes});
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    };
    for (std::uint32_t i = 0; i < armed.size(); ++i) {
        check(armed[i], i, unit_count);
        const auto& [what, fire_at] = armed[i];
        std::uint32_t& root = roots_[to_index(what.units[0])];
        if (root == no_node) root = new_node(1);
        std::uint32_t at = root;
        for (std::size_t k = 0;; ++k) {
            const bool is_last = k + 1 == what.size();
            const bool is_detection = k + 1 == (fire_at == 0 ? what.size() : fire_at);
            if (is_last || is_detection) nodes_[at].ends.push_back({i, is_detection});
            if (is_last) break;
            const interval_us step = checked_interval(what.delays[k]);
            nodes_[at].leads_on = true;
            nodes_[at].largest_low =
                std::max(nodes_[at].largest_low, static_cast<std::uint64_t>(step.low));
            auto& known = edges[to_index(what.units[k + 1])];
            const auto [next, is_new] = known.try_emplace({at, what.delays[k]}, no_node);
            if (is_new) next->second = new_node(k + 2);
            at = next->second;
        }
    }
    first_step_.push_back(0);
    for (const auto& of_unit : edges) {
        for (const auto& [from, to] : of_unit)
            steps_.push_back({from.first, to, static_cast<std::uint64_t>(from.second.low.count()),
                              static_cast<std::uint64_t>(from.second.high.count())});
        first_step_.push_back(steps_.size());
    }
}

survivor_stream::survivor_stream(std::span<const armed_episode> armed, std::size_t unit_count,
                                 tie_rule ties)
    : ties_(ties),
      trie_(armed, unit_count),
      newest_(trie_.nodes().size(), INT64_MIN),
      last_of_unit_(unit_count) {
    rings_.reserve(trie_.nodes().size());
    for (const trie_node& node : trie_.nodes()) rings_.emplace_back(node.spikes, node.largest_low);
}

void survivor_stream::check(std::int64_t time_us, unit_id unit) const {
    if (to_index(unit) >= last_of_unit_.size())
        throw invalid_argument(fmt::format("a spike belongs to unit {}, but there are {} units",
                                           to_index(unit), last_of_unit_.size()));
    if (time_us < last_time_)
        throw invalid_argument(
            fmt::format("a spike at {} us is earlier than the one before it, "
                        "at {} us",
                        time_us, last_time_));
}

void survivor_stream::flush() {
    for (stamp_ring& ring : rings_) ring.clear();
    std::fill(newest_.begin(), newest_.end(), INT64_MIN);
    std::fill(last_of_unit_.begin(), last_of_unit_.end(), std::nullopt);
    last_time_ = INT64_MIN;
}

}  // namespace spikeweave::episodes
