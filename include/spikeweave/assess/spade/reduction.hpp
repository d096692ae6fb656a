#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Pattern set reduction (Torre et al. 2013, doi:10.3389/fncom.2013.00132). The names of the
/// parameters are Elephant's.
struct reduction_options {
    spectrum_kind spectrum = spectrum_kind::size_count;
    /// h: added to the number of occurrences that a subset has beyond its superset, before the
    /// remaining occurrences are tested.
    std::int32_t h_subset_filtering = 0;
    /// k: added to the number of spikes that a superset has beyond its subset, before the remaining
    /// spikes are tested.
    std::int32_t k_superset_filtering = 0;
    /// l: if both tests reject, the pattern that covers more spikes, (spikes - l) × occurrences, is
    /// kept.
    std::int32_t l_covered_spikes = 0;
    /// A superset with fewer spikes than this beyond its subset is rejected; at least 1.
    std::uint32_t min_spikes = 2;
    /// A subset with fewer occurrences than this beyond its superset is rejected. Patterns that
    /// overlap in time less often than this are not compared. At least 1.
    std::uint32_t min_occ = 2;
    /// The rules that the patterns were mined with. A signature that meets none of them was never
    /// tested, so it counts as likely by chance, like those in `not_significant`. If empty, only
    /// `min_spikes` and `min_occ` define what is too few, as in Elephant, which has one threshold.
    std::vector<pattern_rule> rules{};
    /// `elephant` compares item numbers after a shift, so that a spike that leaves the window on
    /// one side is mistaken for a spike of the neighbouring unit. By default such a spike matches
    /// none.
    compatibility compat = compatibility::none;
};

/// Why a pattern was rejected.
enum class reduction_rule : std::uint8_t {
    subset,    ///< it has too few occurrences beyond those of its superset (h)
    superset,  ///< it has too few spikes beyond those that it shares (k)
    covered,   ///< both tests reject, and the other pattern covers more spikes (l)
};
SPIKEWEAVE_API std::string_view to_string(reduction_rule rule);

/// A pattern that the reduction rejected. Both numbers are indices into the table.
struct rejected_pattern {
    std::size_t pattern = 0;
    std::size_t by = 0;  ///< the first pattern that rejected it, which may be rejected itself
    reduction_rule rule = reduction_rule::subset;

    friend bool operator==(const rejected_pattern&, const rejected_pattern&) = default;
};

/// The result of a reduction; both lists are in the order of the given list.
struct reduction_result {
    std::vector<std::size_t> kept{};  ///< indices of the patterns kept
    std::vector<rejected_pattern> rejected{};
};

/// Removes patterns that other patterns explain: a part of a more significant pattern, or one that
/// extends it only by chance. Each pair in the list is compared once: the first pattern with all
/// that follow it, then the second, and so on. A pair is compared at each shift in time at which
/// the two share spikes and at least `min_occ` occurrences, from the most negative shift on. A
/// rejected pattern can still reject others.
///
/// The order of the list decides between two patterns that cover equally many spikes: of a superset
/// and its subset the superset is kept, otherwise the earlier one. To get Elephant's result, use
/// its order (`order_as_elephant`). The order of the items within a pattern does not matter.
///
/// @param list  indices of the patterns to compare, in the order of comparison
/// @param not_significant  signatures that are too likely by chance, from `test_signatures`
/// @throws invalid_argument if the table has no occurrences, if an index in the list is out of
/// range or repeated, or if a threshold is 0; cancelled.
SPIKEWEAVE_API reduction_result reduce_patterns(const pattern_table& table,
                                                std::span<const std::size_t> list,
                                                std::span<const pattern_signature> not_significant,
                                                const reduction_options& options = {},
                                                const execution& run = {});

}  // namespace spikeweave
