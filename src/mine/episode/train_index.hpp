#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "synfire/core/ids.hpp"
#include "synfire/spikes/spike_sequence.hpp"

namespace synfire::episodes {

/// One unit's spikes, ready for "the first spike after t": sorted times, one sentinel behind them
/// that is later than any time, and a table of about one bucket a spike that says where to begin to
/// look.
struct indexed_train {
    const std::int64_t* times_us;
    const std::uint32_t* positions;  ///< in the sequence
    std::uint32_t size;
    const std::uint32_t*
        buckets;  ///< buckets[b]: the first spike at or after origin + (b << shift)
    std::uint32_t bucket_count;
    int shift;
    std::int64_t origin_us;

    /// Index of the first spike later than `time`, given that it is not before `from`; `size` if
    /// there is none.
    std::uint32_t first_after(std::int64_t time, std::uint32_t from) const {
        const std::int64_t bucket = (time - origin_us) >> shift;
        if (bucket > 0)
            from = std::max(from, buckets[std::min<std::int64_t>(bucket, bucket_count - 1)]);
        // Most answers lie within two spikes of the table's; without branches they cost no
        // misprediction.
        from += times_us[from] <= time ? 1 : 0;
        from += times_us[from] <= time ? 1 : 0;
        while (times_us[from] <= time) ++from;
        return from;
    }
};

/// All trains of a sequence. 16 bytes a spike and 24 a unit.
class train_index {
public:
    explicit train_index(const spike_sequence& spikes);

    const indexed_train& operator[](unit_id unit) const { return trains_[index(unit)]; }
    std::uint64_t bytes() const;

private:
    std::vector<std::int64_t> times_us_;
    std::vector<std::uint32_t> positions_;
    std::vector<std::uint32_t> buckets_;
    std::vector<indexed_train> trains_;
};

}  // namespace synfire::episodes
