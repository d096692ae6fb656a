#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/spike_walks.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::assess {

/// @throws invalid_argument if the spikes have no such unit.
inline void check_unit(const spike_sequence& spikes, unit_id unit) {
    if (to_index(unit) >= spikes.unit_count())
        throw invalid_argument(
            fmt::format("there is no unit {} of {}", to_index(unit), spikes.unit_count()));
}

/// The pairs of spikes of two trains by their lags, in microseconds. A spike is no pair with
/// itself.
class lag_counts {
public:
    using time_list = std::span<const std::int64_t>;

    lag_counts(time_list from, time_list to, bool is_same_unit)
        : from_(from), to_(to), is_same_unit_(is_same_unit) {}

    /// Pairs with low < lag <= high.
    double in(std::int64_t low, std::int64_t high) const {
        return static_cast<double>(up_to(high) - up_to(low));
    }

    /// Calls `take` with the lag of each of these pairs.
    template <class Take>
    void each(std::int64_t low, std::int64_t high, const Take& take) const {
        std::size_t first = 0;
        for (std::size_t i = 0; i < from_.size(); ++i) {
            first = core::skip_while(first, to_.size(), [&, most = from_[i] + low](std::size_t j) {
                return to_[j] <= most;
            });
            for (std::size_t j = first; j < to_.size() && to_[j] - from_[i] <= high; ++j)
                if (!is_same_unit_ || i != j) take(to_[j] - from_[i]);
        }
    }

private:
    std::int64_t up_to(std::int64_t lag) const {
        std::size_t j = 0;
        std::int64_t pairs = 0;
        for (const std::int64_t time : from_) {
            while (j < to_.size() && to_[j] - time <= lag) ++j;
            pairs += static_cast<std::int64_t>(j);
        }
        const bool has_itself = is_same_unit_ && lag >= 0;
        return has_itself ? pairs - static_cast<std::int64_t>(from_.size()) : pairs;
    }

    time_list from_;
    time_list to_;
    bool is_same_unit_;
};

}  // namespace spikeweave::assess
