#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::assess {

/// Counts of three-unit episodes, taken from the table if they are frequent, otherwise counted.
class triple_counts {
public:
    triple_counts(const spike_sequence& spikes, const episode_table& table, const execution& run)
        : spikes_(spikes), run_(run), ties_(table.ties) {
        for (const auto& [what, count] : table.episodes)
            if (what.size() == 3) known_[what] = count;
    }

    std::vector<std::uint64_t> of(std::span<const episode> asked) const {
        std::vector<std::uint64_t> counts(asked.size());
        std::vector<episode> unknown;
        std::vector<std::size_t> where;
        for (std::size_t i = 0; i < asked.size(); ++i) {
            if (const auto found = known_.find(asked[i]); found != known_.end()) {
                counts[i] = found->second;
            } else {
                unknown.push_back(asked[i]);
                where.push_back(i);
            }
        }
        if (unknown.empty()) return counts;
        const auto counted = count_episodes(spikes_, unknown, {.ties = ties_}, run_).counts;
        for (std::size_t k = 0; k < where.size(); ++k) counts[where[k]] = counted[k];
        return counts;
    }

private:
    const spike_sequence& spikes_;
    const execution& run_;
    tie_rule ties_;
    std::map<episode, std::uint64_t> known_;
};

}  // namespace spikeweave::assess
