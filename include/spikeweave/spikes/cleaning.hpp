#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// The units and spikes that analyses leave out before they search: units that are not labelled
/// good, and those left out by the published analyses with SPADE (Stella et al. 2022,
/// doi:10.1523/ENEURO.0505-21.2022): moments at which units fire within one sample, which are
/// artefacts of the array, and units that are badly separated or fire too fast.
namespace spikeweave {

struct spike_cleaning_options {
    /// All spikes of an event of at least this many units are left out, at least 2. An event is a
    /// run of spikes no further apart than `synchrony_window`.
    std::optional<std::uint32_t> drop_synchronous{};
    /// The longest time between two successive spikes of an event, which may be longer itself. The
    /// default is a sample at 30 kHz, in whole microseconds.
    duration synchrony_window{34};
    /// Units with a higher mean rate are left out; above 0, in hertz. The rate is that of the
    /// spikes that remain in `spike_sequence::observed_time`: of a file, its recorded span.
    std::optional<double> max_rate{};
    /// Units with a lower signal-to-noise ratio are left out; above 0. The ratios are those of a
    /// sorter.
    std::optional<double> min_snr{};
};
SPIKEWEAVE_API option_list describe(spike_cleaning_options& options);

/// A unit that was left out, and its value.
struct unit_left_out {
    std::string name{};
    std::size_t spikes = 0;
    double value = 0;  ///< its rate in hertz, or its signal-to-noise ratio

    friend bool operator==(const unit_left_out&, const unit_left_out&) = default;
};

/// The units and spikes that were left out, by reason.
struct spikes_left_out {
    std::uint32_t synchronous_units = 0;  ///< of events of at least so many units
    std::size_t synchronous_events = 0;
    std::size_t synchronous_spikes = 0;
    std::vector<unit_left_out> fast{};   ///< in the order of the units
    std::vector<unit_left_out> noisy{};  ///< in the order of the units
    /// Units that stay though `min_snr` was asked for, because their ratio is not known.
    std::vector<std::string> unknown{};
};

struct cleaned_spikes {
    spike_sequence spikes{};
    spikes_left_out left_out{};
};

/// Leaves out synchronous events, then units by their signal-to-noise ratio and by the rate of
/// their remaining spikes.
/// @param snr  the signal-to-noise ratio of each unit, NaN where it is unknown: such units stay;
///             needed only for `min_snr`
/// @throws invalid_argument if an option is out of range, or `min_snr` is set and `snr` has not one
/// value a unit.
SPIKEWEAVE_API cleaned_spikes clean_spikes(const spike_sequence& spikes,
                                           const spike_cleaning_options& options,
                                           std::span<const double> snr = {});

/// Warnings about the units and spikes that were left out, as full sentences.
SPIKEWEAVE_API std::vector<std::string> warnings_of(const spikes_left_out& left_out);

/// Units that were chosen by their labels.
struct units_by_label {
    std::vector<std::size_t> used{};  ///< indices of the units, ascending
    std::string message{};  ///< the number of units used, as a full sentence; empty if all are
};

/// Chooses units by labels that a sorter or a person gave them: `good`, `mua` (several neurons),
/// `noise`, `unsorted`, or others.
/// @param labels  of each unit; an empty text is `unsorted`. Empty: the units have none.
/// @param wanted  the labels of the units to use, or only `all`. Empty: `good`, if a unit is
/// labelled `good` or `mua`; else every label but `noise`.
/// @throws invalid_argument if no unit has a label that is wanted, if a label is neither one of
/// these four nor that of a unit, and if labels are wanted and the units have none.
SPIKEWEAVE_API units_by_label choose_by_label(std::span<const std::string> labels,
                                              std::span<const std::string> wanted);

}  // namespace spikeweave
