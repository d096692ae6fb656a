#include "sort/templates/misfits.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spikeweave::templates {
namespace {

constexpr std::uint64_t least_measured = 30;
// The factor by which the remainder may exceed the noise; 3 and 5 found fewer of the spikes that
// overlap, on recordings that were made for this choice.
constexpr double deviations = 2;
constexpr double most_share = 0.3;

// The variation of the scores beyond the noise, as a share of the contribution of the unit's spike.
std::int32_t share_of(const left_over& left, const overlap& row, const match_plan& plan) {
    const auto count = static_cast<double>(left.count);
    const double noise = plan.filters[row.other].noise;
    const double beyond =
        std::sqrt(std::max(0.0, static_cast<double>(left.squares) / count - noise * noise));
    const double contributed = static_cast<double>(left.sizes) / count * row.largest;
    const double share =
        std::min(deviations * beyond * (1 << overlap_bits) / contributed, most_share);
    return static_cast<std::int32_t>(std::lround(share * (1 << overlap_bits)));
}

}  // namespace

measured_misfits::measured_misfits(const match_plan& plan, const left_over_table& left,
                                   std::span<const std::uint32_t> numbers) {
    for (std::size_t unit = 0; unit < left.size(); ++unit) {
        const std::span<const overlap> rows = plan.overlaps.of(unit);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (left[unit][r].count < least_measured) continue;
            shares_[{numbers[unit], numbers[rows[r].other]}] =
                share_of(left[unit][r], rows[r], plan);
        }
    }
}

void measured_misfits::apply_to(match_plan& plan, std::span<const std::uint32_t> numbers) const {
    for (std::size_t unit = 0; unit < plan.misfits.size(); ++unit) {
        const std::span<const overlap> rows = plan.overlaps.of(unit);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const auto found = shares_.find({numbers[unit], numbers[rows[r].other]});
            if (found != shares_.end()) plan.misfits[unit][r] = found->second;
        }
    }
}

}  // namespace spikeweave::templates
