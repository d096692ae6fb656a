#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/compatibility.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

struct binning_options {
    duration bin = std::chrono::milliseconds{5};
    /// The span to bin, from the left edge of bin 0. Default: the span of the sequence; unless
    /// the bins are Elephant's, they then begin at the whole multiple of `bin` at or before it, so
    /// that the grid does not depend on when the first unit fired.
    std::optional<time_span> span{};
    /// The rule by which a time becomes a bin: in whole microseconds, where a spike on an edge
    /// belongs to the later bin, or in the floating-point numbers of
    /// elephant.conversion.BinnedSpikeTrain.
    compatibility compat = compatibility::none;
};

/// The bins in which each unit fired: several spikes of one unit in one bin count once.
///
/// 4 bytes per binned spike; never a matrix of units × bins.
class SPIKEWEAVE_API binned_spikes {
public:
    binned_spikes() = default;
    /// @param offsets beginning of each unit's bins, one more than units
    /// @param bins     strictly ascending within a unit, below `bin_count`
    /// @throws invalid_argument if one of these does not hold.
    binned_spikes(std::vector<std::size_t> offsets, std::vector<std::uint32_t> bins,
                  std::uint32_t bin_count);

    std::size_t unit_count() const { return offsets_.size() - 1; }
    std::uint32_t bin_count() const { return bin_count_; }
    /// Number of pairs of unit and bin.
    std::size_t size() const { return bins_.size(); }
    std::span<const std::uint32_t> bins(unit_id unit) const {
        return std::span{bins_}.subspan(offsets_[to_index(unit)],
                                        offsets_[to_index(unit) + 1] - offsets_[to_index(unit)]);
    }

    friend bool operator==(const binned_spikes&, const binned_spikes&) = default;

private:
    std::vector<std::size_t> offsets_{0};
    std::vector<std::uint32_t> bins_;
    std::uint32_t bin_count_ = 0;
};

/// The result of `bin_spikes`.
struct binning_result {
    binned_spikes spikes{};
    duration origin{};        ///< left edge of bin 0
    std::size_t clipped = 0;  ///< spikes that shared a bin with an earlier one of their unit
    std::size_t outside = 0;  ///< spikes before the span or after its last bin
};

/// `exact` has as many bins as cover the span and drops no spike of it. Elephant's arithmetic drops
/// an incomplete bin at the end, and multiplies by the reciprocal of the bin in double precision,
/// which puts some spikes on an edge one bin early; this is reproduced exactly.
/// @throws invalid_argument if the bin or the span is not positive, or there are more than 2^31
/// bins.
SPIKEWEAVE_API binning_result bin_spikes(const spike_sequence& spikes, const binning_options& how);

}  // namespace spikeweave
