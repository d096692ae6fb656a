#include "mine/episodes/detector/survivor_stream.hpp"

#include <fmt/format.h>

#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {

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
