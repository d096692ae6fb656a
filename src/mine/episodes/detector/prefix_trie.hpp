#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/ids.hpp"
#include "spikeweave/mine/episodes/detector.hpp"

/// The beginnings of the armed episodes as a trie, so that what several episodes have in common is
/// followed once.
namespace spikeweave::episodes {

/// A step from a node to a longer beginning, taken by the spikes of one unit.
struct trie_step {
    std::uint32_t parent;
    std::uint32_t node;
    std::uint64_t low;  ///< in microseconds
    std::uint64_t high;
};

/// The end at a node: of an armed episode, or of the part of it at which it is detected.
struct trie_end {
    std::uint32_t episode;
    bool is_detection;
};

struct trie_node {
    std::size_t spikes = 0;         ///< in an occurrence of this beginning
    std::uint64_t largest_low = 0;  ///< of the steps that lead on
    bool leads_on = false;
    std::vector<trie_end> ends{};
};

class prefix_trie {
public:
    static constexpr std::uint32_t no_node = UINT32_MAX;

    /// @throws invalid_argument if an episode is invalid.
    prefix_trie(std::span<const armed_episode> armed, std::size_t unit_count);

    std::span<const trie_node> nodes() const { return nodes_; }
    /// The beginning that is this unit alone; `no_node` if no episode begins with it.
    std::uint32_t root(unit_id unit) const { return roots_[to_index(unit)]; }
    /// The steps that a spike of this unit can take.
    std::span<const trie_step> steps(unit_id unit) const {
        const std::size_t first = first_step_[to_index(unit)];
        return std::span{steps_}.subspan(first, first_step_[to_index(unit) + 1] - first);
    }

private:
    std::vector<trie_node> nodes_;
    std::vector<std::uint32_t> roots_;
    std::vector<std::size_t> first_step_;
    std::vector<trie_step> steps_;  // grouped by unit
};

}  // namespace spikeweave::episodes
