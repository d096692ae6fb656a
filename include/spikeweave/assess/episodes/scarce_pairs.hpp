#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "spikeweave/assess/episodes/options.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Pairs of units that follow each other less often than by chance
/// (docs/algorithms/significance.md, "Fewer than chance").
namespace spikeweave {

/// How a pair that occurs less often than by chance is explained.
enum class scarcity : std::uint8_t {
    none,                 ///< it is not significant
    putative_inhibition,  ///< not explained by what follows
    shared_spikes,        ///< one of the units repeats spikes of the other (`find_shared_spikes`)
    beside_excess,  ///< the units follow each other more often than by chance at a lag nearby,
                    ///< by more spikes than are missing here: the test spreads these
    dead_time,      ///< synchronous spikes are missing as well, as after the dead time of the
                    ///< detector on one electrode
};
SPIKEWEAVE_API std::string_view to_string(scarcity kind);

/// A pair of units that was tested for occurring less often than by chance.
struct scarce_pair {
    unit_id from;
    unit_id to;
    delay_interval delay;
    /// Occurrences that do not overlap, counted in each cell of the test by itself.
    std::uint64_t count;
    double expected;  ///< mean count under the null hypothesis
    double p;         ///< probability of this count or a lower one
    double q;         ///< p corrected for all pairs that were tested
    scarcity kind = scarcity::none;

    double ratio() const { return static_cast<double>(count) / expected; }
};
template <>
struct members_of<scarce_pair> {
    static void list(const auto& to) {
        to("count", &scarce_pair::count, "expected", &scarce_pair::expected, "ratio",
           &scarce_pair::ratio, "p", &scarce_pair::p, "q", &scarce_pair::q);
    }
};

/// Tests all pairs of different units in each delay interval, frequent or not, against the null
/// hypothesis of `significance_test::jitter`: p is the larger one of rotating the first unit and of
/// rotating the second. Pairs whose count is too low to be significant even if it is 0 are left
/// out, after Tarone (1990, Biometrics 46:515), and need no correction. Returns all others, by p.
/// @throws invalid_argument if the jitter window is shorter than 1 ms or the test is another one;
/// cancelled.
SPIKEWEAVE_API std::vector<scarce_pair> find_scarce_pairs(const spike_sequence& spikes,
                                                          std::span<const delay_interval> delays,
                                                          tie_rule ties = tie_rule::time,
                                                          const significance_options& options = {},
                                                          const execution& run = {});

}  // namespace spikeweave
