#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Cell assemblies at several time scales (CAD; E. Russo, D. Durstewitz, eLife 6:e19428, 2017,
/// doi:10.7554/eLife.19428). docs/algorithms/assemblies.md has the formulas.
namespace spikeweave {

/// The assemblies that are kept if a set of units is found at several bin widths.
enum class bin_choice : std::uint8_t {
    every,    ///< all of them
    best,     ///< of the same units, that with the smallest p
    largest,  ///< also none whose units are all in a larger assembly of another bin width
};
template <>
SPIKEWEAVE_API enum_table<bin_choice> enum_names<bin_choice>();

/// Times with their units, separated by commas: "5ms,10ms".
template <>
struct SPIKEWEAVE_API option_codec<std::vector<duration>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::vector<duration>& field);
    static std::vector<duration> read(const option_value& value);
};

struct assembly_options {
    /// Each width is searched by itself.
    std::vector<duration> bins{duration{5'000},  duration{10'000},  duration{25'000},
                               duration{50'000}, duration{100'000}, duration{250'000},
                               duration{500'000}};
    std::uint32_t max_lag = 10;  ///< the longest lag, in bins, in both directions
    /// The joint count is compared with that at a lag which is shorter by so many bins; 0 compares
    /// it with that at the opposite lag, and at lag 0 with that at lag -2.
    std::uint32_t reference_lag = 2;
    double alpha = 0.05;          ///< divided by the number of tests of a step
    bool correct_bins = true;     ///< `alpha` is also divided by the number of bin widths
    std::uint32_t min_count = 1;  ///< fewest activations of an assembly
    std::uint32_t max_size = 0;   ///< most units of an assembly; 0: no bound
    std::uint32_t chunk = 100;    ///< bins in which rates are taken as constant
    /// At a bin width with more assemblies of one size, these are not made larger.
    std::uint32_t max_assemblies = 10'000;
    bin_choice across_bins = bin_choice::best;
};
SPIKEWEAVE_API option_list describe(assembly_options& options);

/// A bin in which an assembly is active.
struct assembly_activation {
    duration begin{};         ///< where the bin of the first unit begins
    std::uint32_t count = 0;  ///< the number of activations of the assembly there, at least 1

    friend bool operator==(const assembly_activation&, const assembly_activation&) = default;
};

/// Units that fire together, each with its lag, more often than chance.
struct assembly {
    duration bin{};                    ///< width of the bins
    std::vector<unit_id> units{};      ///< at least two, in the order in which they were joined
    std::vector<std::int32_t> lags{};  ///< of each unit after the first one, in bins; lags[0] is 0
    std::vector<double> p{};           ///< p[i]: of joining units[i + 1]; not corrected
    /// The last p times the number of tests by which `alpha` was divided, at most 1.
    double p_corrected = 1;
    std::vector<std::uint64_t> counts{};  ///< counts[i]: activations of the first i + 2 units
    std::vector<assembly_activation> activations{};  ///< in order of time

    friend bool operator==(const assembly&, const assembly&) = default;
};

/// One step of the search: all assemblies of one size at one bin width.
struct assembly_step {
    duration bin{};
    std::uint32_t size = 0;         ///< number of units
    std::uint64_t tests = 0;        ///< pairs of an assembly and a unit that were tested
    std::uint64_t untested = 0;     ///< those that were not, because they are expected too rarely
    std::uint64_t significant = 0;  ///< tests below the corrected level
    std::uint64_t kept = 0;         ///< different sets of units among these
    bool too_many = false;          ///< more than `max_assemblies`, so the search ended here

    friend bool operator==(const assembly_step&, const assembly_step&) = default;
};

/// The result of `mine_assemblies`.
struct mined_assemblies {
    std::vector<assembly> assemblies{};  ///< by their last p, the smallest first
    std::vector<assembly_step> steps{};  ///< by bin width, then by size
    std::vector<duration> too_wide{};    ///< bins of which fewer than 100 are left after `max_lag`
};

/// Finds cell assemblies: pairs of units whose joint count at the best lag exceeds that at a
/// reference lag, and further units that are joined in the same way, until none is significant. No
/// activation reaches from one epoch into another.
///
/// Counts are exact, and the result is the same on any number of threads.
/// @param run  threads, progress and cancellation; devices and ranks are ignored
/// @throws invalid_argument if an option is out of range, all bins are too wide, or a unit has more
/// than 32,767 spikes in a bin; cancelled.
SPIKEWEAVE_API mined_assemblies mine_assemblies(const spike_sequence& spikes,
                                                const assembly_options& options = {},
                                                const execution& run = {});

}  // namespace spikeweave
