#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spikeweave/core/ids.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::episodes {

/// One unit's spikes, prepared for the query "the first spike after t": sorted times, followed by a
/// sentinel later than any time, and a table of one to two buckets per spike with the place where
/// the search begins.
struct indexed_train {
    const std::int64_t* times_us;
    const std::uint32_t* positions;  ///< positions in the sequence
    std::uint32_t size;
    const std::uint32_t*
        buckets;  ///< buckets[b]: the first spike at or after origin + (b << shift)
    std::uint32_t bucket_count;
    int shift;
    std::int64_t origin_us;

    /// Index of the first spike later than `time`, `size` if there is none. `time` is not before
    /// the sequence's first spike; `hint` is not beyond the answer.
    std::uint32_t first_after(std::int64_t time, std::uint32_t hint) const {
        std::uint32_t at =
            buckets[std::min<std::int64_t>((time - origin_us) >> shift, bucket_count - 1)];
        // Most answers lie within two spikes of the table's. Steps without branches cost no
        // misprediction. The hint is mostly the previous answer; queries that do not wait for it
        // can run side by side.
        at += times_us[at] <= time ? 1 : 0;
        at += times_us[at] <= time ? 1 : 0;
        if (times_us[at] <= time) [[unlikely]] {
            at = std::max(at, hint);
            while (times_us[at] <= time) ++at;
        }
        return at;
    }
};

/// All trains of a sequence, 16 to 20 bytes per spike.
class train_index {
public:
    explicit train_index(const spike_sequence& spikes);

    const indexed_train& operator[](unit_id unit) const { return trains_[to_index(unit)]; }
    std::uint64_t bytes() const;

private:
    std::vector<std::int64_t> times_us_;
    std::vector<std::uint32_t> positions_;
    std::vector<std::uint32_t> buckets_;
    std::vector<indexed_train> trains_;
};

}  // namespace spikeweave::episodes
