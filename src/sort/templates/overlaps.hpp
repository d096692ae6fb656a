#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sort/templates/low_rank.hpp"
#include "spikeweave/core/execution.hpp"

namespace spikeweave::templates {

/// Spikes are placed on quarters of a frame.
constexpr int parts_of_frame = 4;
/// A correlation of 1, of two filters with each other.
constexpr int overlap_bits = 14;

/// The correlations of a filter with a spike of another unit, at all lags at which they overlap.
struct overlap {
    std::uint32_t other = 0;             ///< the unit of the spike
    std::int32_t largest = 0;            ///< largest absolute value
    std::int32_t largest_lag = 0;        ///< where that is
    std::vector<std::int16_t> values{};  ///< parts of a frame x lags from -reach to reach
};

/// Which templates overlap, and what a spike of one adds to the correlation with another.
class overlap_table {
public:
    overlap_table(const std::vector<matched_filter>& filters, const execution& run);

    /// Lags go from -reach to reach.
    std::int64_t reach() const { return reach_; }
    /// Filters with which a spike of the unit correlates, ascending, itself included.
    std::span<const overlap> of(std::size_t unit) const { return rows_[unit]; }
    /// The contribution of a spike of `unit` of amplitude 1 at the lags, if it is `part` parts of a
    /// frame later.
    std::span<const std::int16_t> values(const overlap& of, int part) const {
        const auto lags = static_cast<std::size_t>(2 * reach_ + 1);
        return std::span{of.values}.subspan(static_cast<std::size_t>(part) * lags, lags);
    }

private:
    std::int64_t reach_ = 0;
    std::vector<std::vector<overlap>> rows_;
};

}  // namespace spikeweave::templates
