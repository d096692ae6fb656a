#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/assess/change_points.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/pipeline/change_kind.hpp"
#include "spikeweave/pipeline/episodes.hpp"

/// When a circuit changes in the course of a recording, and when the firing rates of its units do.
/// docs/algorithms/change-points.md has the formulas and the calibration.
namespace spikeweave {

/// The likeliest change of a finding in one measure. It is significant if q is below the level.
struct measured_change {
    std::optional<change_point> point{};  ///< none if there are too few windows
    /// The measure before and after it; NaN where it is not known.
    double before = 0;
    double after = 0;
    double q = 1;  ///< p, corrected by Benjamini and Hochberg for all findings
};

/// The changes of an edge or chain.
struct finding_change {
    episode what{};
    measured_change rate{};  ///< occurrences per second
    /// The probability that a spike of its first unit is followed beyond what the firing rates of
    /// the units predict: occurrences beyond those expected by jitter, divided by
    /// `removed_by_jitter`.
    measured_change excess{};
    change_kind change = change_kind::none;
};

/// `at` of a change is the first window after it.
struct circuit_changes {
    std::vector<time_span> windows{};  ///< those that were compared, [begin, end)
    change_points firing_rates{};      ///< of the firing rates of all units together
    change_points circuit{};           ///< of the excesses of all findings together
    /// The direct edges and chains of all windows together.
    std::vector<finding_change> findings{};
    std::vector<std::string> warnings{};
};

/// The windows of a series that share no time: the first one, and each that does not begin before
/// the end of the last one taken.
/// @param windows  in the order of their begins
SPIKEWEAVE_API std::vector<time_span> windows_apart(std::span<const time_span> windows);

/// Searches all windows together for direct edges and chains, counts these in each window, and
/// tests when the firing rates, the circuit and each of them change. A change of the circuit is a
/// change beyond that explained by the firing rates of the units.
/// @param windows  windows of one length that share no time, [begin, end), in order
/// @param search   a `min_count` is that of a window, and is taken in proportion to the time
/// @throws invalid_argument if an option is out of range, or windows overlap, are not in order,
/// differ in length, or there is none; device_error; cancelled.
SPIKEWEAVE_API circuit_changes find_circuit_changes(const spike_sequence& spikes,
                                                    std::span<const time_span> windows,
                                                    const episode_options& search,
                                                    const change_point_options& options = {},
                                                    const execution& run = {});

}  // namespace spikeweave
