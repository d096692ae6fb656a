#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "sort/templates/matching.hpp"
#include "sort/templates/unit_template.hpp"

namespace spikeweave::templates {

/// The amplitudes of the spikes of each unit. Units are known by numbers that they keep from round
/// to round.
class learned_amplitudes {
public:
    /// @param spikes   of the units whose filters these are
    /// @param allowed  the amplitudes that are believed of any unit
    learned_amplitudes(std::span<const matched_filter> filters,
                       std::span<const template_spike> spikes,
                       std::span<const std::uint32_t> numbers, const match_rule& allowed);
    learned_amplitudes() = default;

    /// Sets what a plan expects of units that had enough spikes.
    void apply_to(match_plan& plan, std::span<const std::uint32_t> numbers) const;

private:
    std::map<std::uint32_t, expected_amplitudes> of_unit_{};  // times the filter's norm
};

}  // namespace spikeweave::templates
