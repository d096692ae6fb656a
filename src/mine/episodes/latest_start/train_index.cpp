#include "mine/episodes/latest_start/train_index.hpp"

#include <algorithm>

namespace spikeweave::episodes {
namespace {

// The width of a bucket, as a power of two: half a spike to one spike per bucket if spikes were
// spread evenly.
int bucket_shift(std::int64_t length_us, std::uint32_t spikes) {
    constexpr std::int64_t most_buckets = std::int64_t{1} << 31;
    const std::int64_t wanted = std::min(2 * static_cast<std::int64_t>(spikes), most_buckets);
    int shift = 0;
    while (length_us >> shift > wanted) ++shift;
    return shift;
}

}  // namespace

train_index::train_index(const spike_sequence& spikes) : trains_(spikes.unit_count()) {
    for (const unit_id unit : spikes.units()) ++trains_[to_index(unit)].size;
    // Two sentinels follow each train: one ends every search, the other may be read after it.
    times_us_.resize(spikes.size() + 2 * trains_.size(), INT64_MAX);
    positions_.resize(times_us_.size());
    std::vector<std::size_t> next(trains_.size());
    for (std::size_t u = 0, offset = 0; u < trains_.size(); ++u) {
        next[u] = offset;
        trains_[u].times_us = times_us_.data() + offset;
        trains_[u].positions = positions_.data() + offset;
        offset += trains_[u].size + 2;
    }
    for (std::size_t i = 0; i < spikes.size(); ++i) {
        const std::size_t at = next[to_index(spikes.units()[i])]++;
        times_us_[at] = spikes.times_us()[i];
        positions_[at] = static_cast<std::uint32_t>(i);
    }

    const std::int64_t origin = spikes.empty() ? 0 : spikes.times_us().front();
    const std::int64_t length = spikes.empty() ? 0 : spikes.times_us().back() - origin;
    std::size_t buckets = 0;
    for (indexed_train& train : trains_) {
        train.origin_us = origin;
        train.shift = bucket_shift(length, train.size);
        train.bucket_count = static_cast<std::uint32_t>(length >> train.shift) + 2;
        buckets += train.bucket_count;
    }
    buckets_.resize(buckets);
    std::size_t offset = 0;
    for (indexed_train& train : trains_) {
        train.buckets = buckets_.data() + offset;
        for (std::uint32_t b = 0, spike = 0; b < train.bucket_count; ++b) {
            const std::int64_t begin =
                train.origin_us + (static_cast<std::int64_t>(b) << train.shift);
            while (train.times_us[spike] < begin) ++spike;
            buckets_[offset + b] = spike;
        }
        offset += train.bucket_count;
    }
}

std::uint64_t train_index::bytes() const {
    return times_us_.size() * sizeof(std::int64_t) +
           (positions_.size() + buckets_.size()) * sizeof(std::uint32_t) +
           trains_.size() * sizeof(indexed_train);
}

}  // namespace spikeweave::episodes
