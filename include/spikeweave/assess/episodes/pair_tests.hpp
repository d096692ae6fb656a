#pragma once

#include <array>
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

/// The test of all ordered pairs of units for a connection of either sign
/// (docs/algorithms/circuit.md).
namespace spikeweave {

/// Whether the second unit fires more or less often after the first.
enum class connection_sign : std::uint8_t { excitatory, inhibitory };
inline constexpr std::array connection_signs{connection_sign::excitatory,
                                             connection_sign::inhibitory};
SPIKEWEAVE_API std::string_view to_string(connection_sign sign);

/// Monosynaptic delays end here (English et al. 2017, Neuron 96:505, look up to 5.8 ms; conduction
/// within a few millimetres adds the rest).
constexpr duration longest_synaptic_delay{8'500};

/// The overlapping windows of synaptic delays: 2 ms wide in steps of 0.5 ms, and 3 ms wide in steps
/// of 1 ms, from 0.5 to 8.5 ms.
SPIKEWEAVE_API std::vector<delay_interval> synaptic_windows();

/// The test of one ordered pair of units.
struct pair_test {
    unit_id from;
    unit_id to;
    connection_sign sign;
    /// Whether the delay is longer than a synaptic one. Slow delays are tested separately.
    bool slow;
    /// The window with the smallest p among those of this sign.
    delay_interval delay;
    /// Pairs of spikes whose lag is in the window.
    std::uint64_t count;
    /// The expected number without a connection, from the lags beside the window.
    double expected;
    /// For all windows and both signs together, by Simes (1986). Windows and signs are weighted by
    /// the edges of other pairs (Genovese, Roeder, Wasserman 2006, Biometrika 93:509), except for
    /// slow delays and suggested pairs.
    double p;
    /// p corrected for all pairs by Benjamini and Hochberg (1995). With default delays, it is
    /// divided by the share of windows, 38 of 40 for synaptic delays and 2 of 40 for slow ones, so
    /// that both together keep the level.
    double q;
};
template <>
struct members_of<pair_test> {
    static void list(const auto& to) {
        to("count", &pair_test::count);
        to("expected", &pair_test::expected);
        to("p", &pair_test::p);
        to("q", &pair_test::q);
    }
};

/// The result of the test of all pairs.
struct pair_tests {
    /// Those with a p below `listed_below` before it is weighted, by p.
    std::vector<pair_test> pairs{};
    /// 1 if there are at most `most_listed` ordered pairs, so that all are listed, else 0.05.
    double listed_below = 1;
    /// Ordered pairs of different units that could have become significant (Tarone 1990).
    std::uint64_t tested = 0;
    /// Ordered pairs of different units.
    std::uint64_t possible = 0;
    /// Units that are in no tested pair, because they fire too rarely.
    std::vector<unit_id> untested_units{};

    static constexpr std::uint64_t most_listed = 10'000;
};

/// Tests every ordered pair of different units for a connection. In its null hypothesis, the lag of
/// each pair of spikes is displaced as by jitter in cells of `significance_options::jitter_window`
/// on a grid of random phase; for inhibition, cells are twice as wide. Where the strongest
/// deviation of a pair would distort the test of its other direction, it is replaced by a line. p
/// is that of the sign with the smaller one before weights. docs/algorithms/circuit.md defines the
/// test.
/// @param delays  the windows; `default_delays()` stands for `synaptic_windows()` and, tested
/// separately
///        for excitation only, those of its intervals that reach beyond
/// @throws invalid_argument if the jitter window is shorter than 1 ms or a delay is negative;
/// cancelled.
SPIKEWEAVE_API pair_tests test_pairs(const spike_sequence& spikes,
                                     std::span<const delay_interval> delays,
                                     const significance_options& options = {},
                                     const execution& run = {});

/// Tests pairs that other spikes suggested: each in its window and with its sign only, corrected
/// for these few.
/// @return one element for each of `suggested`, in their order
/// @throws as above; also if there is no such unit.
SPIKEWEAVE_API pair_tests test_suggested_pairs(const spike_sequence& spikes,
                                               std::span<const pair_test> suggested,
                                               const significance_options& options = {},
                                               const execution& run = {});

}  // namespace spikeweave
