#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/pattern_significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"

namespace spikeweave {

/// Pattern set reduction (Torre et al. 2013, doi:10.3389/fncom.2013.00132). The names of the
/// parameters are Elephant's.
struct reduction_options {
    spectrum_kind kind = spectrum_kind::size_count;
    /// Added to the occurrences that a subset has beyond its superset, before they are judged.
    std::int32_t h_subset_filtering = 0;
    /// Added to the spikes that a superset has beyond its subset, before they are judged.
    std::int32_t k_superset_filtering = 0;
    /// Where each speaks against the other, the pattern with more (spikes - l) × occurrences stays.
    std::int32_t l_covered_spikes = 0;
    std::uint32_t min_spikes = 2;  ///< fewer spikes beyond the subset are too few; at least 1
    /// Fewer occurrences beyond the superset are too few, and patterns that overlap in time less
    /// often do not know of each other; at least 1.
    std::uint32_t min_occ = 2;
    /// The rules that patterns were searched by. What none of them takes was never tested, so that
    /// it is as likely by chance as what `not_significant` lists. Empty: `min_spikes` and `min_occ`
    /// alone say what is too few. Elephant knows one threshold only: its rules are those.
    std::vector<pattern_rule> rules{};
    /// `elephant` compares item numbers after a shift, so that a spike which leaves the window on
    /// one side is taken for one of the neighbouring unit. By default it equals nothing.
    compatibility compat = compatibility::none;
};

enum class reduction_rule : std::uint8_t {
    subset,    ///< beyond its superset it occurs too seldom (h)
    superset,  ///< beyond the spikes that it shares it has too few (k)
    covered,   ///< both speak against each other, and the other covers more spikes (l)
};
std::string_view to_string(reduction_rule rule);

struct rejected_pattern {
    std::size_t pattern = 0;
    std::size_t by = 0;  ///< the first that rejected it; perhaps rejected itself, before or later
    reduction_rule rule = reduction_rule::subset;

    friend bool operator==(const rejected_pattern&, const rejected_pattern&) = default;
};

struct reduced_patterns {
    std::vector<std::size_t> kept{};
    std::vector<rejected_pattern> rejected{};  ///< both in the order of the list
};

/// Takes away patterns that others explain: part of a more significant one, or more than it by
/// chance. Each pair of the list is looked at once, the first with all that follow it, then the
/// second, and so on; each shift in time at which they share spikes and `min_occ` occurrences,
/// from the most negative on. What was rejected can still reject others.
///
/// The order of the list decides between two that cover as many spikes: of overlapping patterns the
/// earlier stays, of a superset and its subset the superset, of equal ones the earlier. Elephant's
/// answer needs its order (`order_as_elephant`). The order of the items of a pattern means nothing.
///
/// @param list  which patterns of the table, in the order in which they are looked at
/// @param not_significant  signatures that are too likely by chance, as `test_signatures` says
/// @throws invalid_argument for a table whose occurrences are left out, a list that is not of the
/// table or names a pattern twice, or a threshold of 0; cancelled.
reduced_patterns reduce_patterns(const pattern_table& table, std::span<const std::size_t> list,
                                 std::span<const signature> not_significant,
                                 const reduction_options& options = {}, const execution& run = {});

}  // namespace spikeweave
