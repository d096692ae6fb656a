#include "mine/episodes/windows/spike_store.hpp"

#include <algorithm>

namespace spikeweave::episodes {

void spike_store::add(std::int64_t time, unit_id unit) {
    if (end_ == spike_chunk::capacity) {
        chunks_.push_back(std::make_shared<spike_chunk>());
        end_ = 0;
    }
    chunks_.back()->times[end_] = time;
    chunks_.back()->units[end_] = unit;
    ++end_;
}

void spike_store::drop_before(std::int64_t time) {
    while (!chunks_.empty()) {
        first_ = place_of(time, 0);
        if (first_ < end_of(0)) return;
        if (chunks_.size() == 1) return clear();
        chunks_.pop_front();
        first_ = 0;
    }
}

void spike_store::clear() {
    chunks_.clear();
    first_ = 0;
    end_ = spike_chunk::capacity;
}

std::size_t spike_store::size() const {
    if (chunks_.empty()) return 0;
    return (chunks_.size() - 1) * spike_chunk::capacity + end_ - first_;
}

std::size_t spike_store::place_of(std::int64_t time, std::size_t chunk) const {
    const auto& times = chunks_[chunk]->times;
    const auto from = times.begin() + static_cast<std::ptrdiff_t>(begin_of(chunk));
    const auto to = times.begin() + static_cast<std::ptrdiff_t>(end_of(chunk));
    return static_cast<std::size_t>(std::lower_bound(from, to, time) - times.begin());
}

std::vector<chunk_part> spike_store::between(std::int64_t begin, std::int64_t end) const {
    std::vector<chunk_part> parts;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
        const chunk_part part{chunks_[chunk], place_of(begin, chunk), place_of(end, chunk)};
        if (part.begin < part.end) parts.push_back(part);
    }
    return parts;
}

}  // namespace spikeweave::episodes
