#include "live/sinks/unit_names.hpp"

#include <algorithm>
#include <numeric>

#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {

void unit_names::add(std::span<const std::string> names) {
    names_.insert(names_.end(), names.begin(), names.end());
    std::vector<std::uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
        return natural_less(names_[one], names_[other]);
    });
    is_in_order_ = std::is_sorted(order.begin(), order.end());
    ranks_.resize(names_.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;
}

bool unit_names::comes_before(const episode& one, const episode& other) const {
    if (one.size() != other.size()) return one.size() < other.size();
    const auto [left, right] =
        std::mismatch(one.units.begin(), one.units.end(), other.units.begin());
    if (left != one.units.end()) return ranks_[to_index(*left)] < ranks_[to_index(*right)];
    return one.delays < other.delays;
}

std::vector<const counted_episode*> unit_names::ordered(const episode_table& table) const {
    std::vector<const counted_episode*> all;
    all.reserve(table.episodes.size());
    for (const counted_episode& one : table.episodes) all.push_back(&one);
    if (!is_in_order_)
        std::sort(all.begin(), all.end(), [&](const auto* one, const auto* other) {
            return comes_before(one->what, other->what);
        });
    return all;
}

}  // namespace spikeweave::live
