#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "spikeweave/mine/episodes.hpp"

/// Counts straight from the definition, by trying everything: all tuples of spikes, then all
/// sequences of occurrences. It uses no greedy argument and no order of the input. Only for a
/// handful of spikes.
class brute_force {
public:
    brute_force(const spikeweave::spike_sequence& spikes, const spikeweave::episode& what,
                spikeweave::tie_rule ties)
        : spikes_(spikes), what_(what), ties_(ties) {
        std::vector<std::size_t> chosen;
        choose(chosen);
    }

    std::size_t occurrence_count() const { return occurrences_.size(); }
    std::uint64_t count() { return most_after(INT64_MIN); }

private:
    struct occurrence {
        std::int64_t start;
        std::int64_t end;
    };

    std::int64_t place(std::size_t spike) const {
        return ties_ == spikeweave::tie_rule::time ? spikes_.times_us()[spike]
                                                   : static_cast<std::int64_t>(spike);
    }

    void choose(std::vector<std::size_t>& chosen) {
        if (chosen.size() == what_.size()) {
            occurrences_.push_back({place(chosen.front()), place(chosen.back())});
            return;
        }
        for (std::size_t i = 0; i < spikes_.size(); ++i) {
            if (spikes_.units()[i] != what_.units[chosen.size()]) continue;
            if (!chosen.empty()) {
                const std::int64_t delay =
                    spikes_.times_us()[i] - spikes_.times_us()[chosen.back()];
                const spikeweave::delay_interval& interval = what_.delays[chosen.size() - 1];
                if (!(interval.low.count() < delay && delay <= interval.high.count())) continue;
            }
            chosen.push_back(i);
            choose(chosen);
            chosen.pop_back();
        }
    }

    std::uint64_t most_after(std::int64_t time) {
        if (const auto known = most_.find(time); known != most_.end()) return known->second;
        std::uint64_t most = 0;
        for (const occurrence& o : occurrences_) {
            if (o.start > time) most = std::max(most, 1 + most_after(o.end));
        }
        return most_[time] = most;
    }

    const spikeweave::spike_sequence& spikes_;
    const spikeweave::episode& what_;
    spikeweave::tie_rule ties_;
    std::vector<occurrence> occurrences_;
    std::map<std::int64_t, std::uint64_t> most_;
};
