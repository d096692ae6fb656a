#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "sort/templates/left_over.hpp"
#include "sort/templates/matching.hpp"

namespace spikeweave::templates {

/// The share of a spike that its template leaves where another one overlaps, for pairs of units.
/// Units are known by numbers that they keep from round to round.
class measured_misfits {
public:
    /// @param numbers  of the units of the plan
    measured_misfits(const match_plan& plan, const left_over_table& left,
                     std::span<const std::uint32_t> numbers);
    measured_misfits() = default;

    /// Sets what a plan expects of pairs that were measured.
    void apply_to(match_plan& plan, std::span<const std::uint32_t> numbers) const;

private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::int32_t> shares_{};
};

}  // namespace spikeweave::templates
