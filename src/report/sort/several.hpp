#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/several.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

/// Spikes of two sortings that are at most this far apart can be the same, as in SpikeInterface's
/// `compare_two_sorters`.
inline constexpr duration same_spike{400};
/// Units with at least this agreement are matched, and those below `chance_agreement` are not even
/// listed as the best match, as there.
inline constexpr double matched_agreement = 0.5;
inline constexpr double chance_agreement = 0.1;

/// A unit of one sorting and one of the other that have spikes in common.
struct unit_pair {
    unit_id one{};
    unit_id other{};
    std::uint64_t matches = 0;
    double agreement = 0;  ///< matches / (spikes of one + spikes of other - matches)
};

/// All pairs of units with a match, by their numbers. In a pair each spike matches at most one: the
/// earliest that is left.
std::vector<unit_pair> agreement_of(const spike_sequence& one, const spike_sequence& other,
                                    const execution& run);

/// The data of the page that compares two sortings, as docs/formats.md describes them.
/// @throws invalid_argument unless they are two sortings of one recording whose times are known;
/// json::exception if something is missing; cancelled.
std::string several_sortings_data(std::vector<named_result> results, const execution& run);

}  // namespace spikeweave::report
