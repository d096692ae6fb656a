#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Bursts of units and of the network (E. Cotterill et al., J. Neurophysiol. 116:306, 2016,
/// compares the methods). docs/algorithms/bursts.md has the definitions, and the measurements
/// behind the defaults.
namespace spikeweave {

enum class burst_method : std::uint8_t {
    max_interval,  ///< fixed intervals (MaxInterval, of NeuroExplorer)
    log_isi,  ///< an interval of each unit (V. Pasquale et al., J. Comput. Neurosci. 29:213, 2010)
};
template <>
SPIKEWEAVE_API enum_table<burst_method> enum_names<burst_method>();

/// The defaults of `max_interval` are those of NeuroExplorer.
struct burst_options {
    burst_method method = burst_method::max_interval;
    std::uint32_t min_spikes = 3;  ///< fewest spikes of a burst
    // Of `max_interval`, and the last two of bursts of the network:
    duration begin_interval{170'000};  ///< a burst begins with a shorter interval
    duration end_interval{300'000};    ///< a burst ends before a longer interval
    duration min_separation{200'000};  ///< bursts that are nearer are one
    duration min_duration{10'000};     ///< of a burst
    /// Of `log_isi`: each burst has an interval that is not longer.
    duration core_interval{100'000};
    /// The share of the units with spikes that burst at the same time in a network burst.
    double network_share = 0.2;
};
SPIKEWEAVE_API option_list describe(burst_options& options);

/// A burst of a unit.
struct unit_burst {
    unit_id unit{};
    duration begin{};          ///< time of the first spike
    duration end{};            ///< time of the last spike
    std::uint64_t spikes = 0;  ///< of the unit, from `begin` to `end`
    /// From the end of the unit's burst before it; unknown for the first one of an epoch.
    std::optional<duration> interval{};
    /// The index of the network burst that it overlaps.
    std::optional<std::uint64_t> network{};

    /// Intervals between its spikes by its duration.
    double rate_hz() const { return static_cast<double>(spikes - 1) / to_seconds(end - begin); }

    friend bool operator==(const unit_burst&, const unit_burst&) = default;
};

/// The bursts of a unit together. Means are unknown without a burst, or without an interval.
struct unit_bursting {
    std::uint64_t spikes = 0;
    std::uint64_t bursts = 0;
    std::uint64_t spikes_in_bursts = 0;
    double rate_hz = 0;            ///< of its spikes, in the time that was observed
    double bursts_per_minute = 0;  ///< the same of its bursts
    std::optional<double> mean_duration_s{};
    std::optional<double> mean_rate_hz{};  ///< within bursts
    std::optional<double> mean_interval_s{};
    /// Standard deviation of the intervals between bursts by their mean; from two intervals on.
    std::optional<double> interval_variation{};
    /// The same of the intervals between its spikes: 1 for random spikes, more with bursts.
    std::optional<double> spike_variation{};
    /// The longest interval in its bursts; unknown if `log_isi` finds no short intervals.
    std::optional<duration> longest_interval{};

    double share_in_bursts() const {
        return spikes == 0 ? 0
                           : static_cast<double>(spikes_in_bursts) / static_cast<double>(spikes);
    }

    friend bool operator==(const unit_bursting&, const unit_bursting&) = default;
};

/// A time in which many units burst.
struct network_burst {
    duration begin{};                    ///< when enough units are in a burst
    duration end{};                      ///< when they no longer are
    std::uint64_t participating = 0;     ///< units with a burst that overlaps it
    std::uint64_t spikes = 0;            ///< of all units, from `begin` to `end`
    double peak_rate_hz = 0;             ///< the most spikes of all units in 10 ms, per second
    std::optional<duration> interval{};  ///< from the end of the one before in the same epoch

    friend bool operator==(const network_burst&, const network_burst&) = default;
};

/// The result of `mine_bursts`.
struct mined_bursts {
    std::vector<unit_burst> bursts{};      ///< by their beginning, then by unit
    std::vector<unit_bursting> units{};    ///< of each unit
    std::vector<network_burst> network{};  ///< in order of time
    /// The number of units that have to burst at the same time in a network burst.
    std::uint64_t units_of_network = 0;
};

/// Finds the bursts of each unit, and those of the network: the times in which at least
/// `network_share` of the units with spikes, and at least three, are in a burst. No burst reaches
/// from one epoch into another.
///
/// The time is linear in the number of spikes, and the result is the same on any number of threads.
/// @param run  threads, progress and cancellation; devices and ranks are ignored
/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API mined_bursts mine_bursts(const spike_sequence& spikes,
                                        const burst_options& options = {},
                                        const execution& run = {});

}  // namespace spikeweave
