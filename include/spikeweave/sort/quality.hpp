#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/record/mean_waveforms.hpp"
#include "spikeweave/sort/sorting.hpp"
#include "spikeweave/sort/spike_features.hpp"
#include "spikeweave/spikes/doubtful_pairs.hpp"

namespace spikeweave {

struct quality_options {
    /// Two spikes of one neuron are at least this far apart.
    duration refractory = std::chrono::microseconds{1500};
    /// A feature is used for a unit if the unit's spikes have at least this mean mask there.
    double least_mask = 0.5;
};

/// All but `least_mask`.
SPIKEWEAVE_API option_list describe(quality_options& options);

/// The separation of a unit from all other spikes. Unknown values are empty; all others are finite.
struct unit_quality {
    std::uint64_t spikes = 0;
    /// Number of features used for `l_ratio` and `isolation_distance`.
    std::uint32_t features = 0;
    /// Spikes per second. Empty without times.
    std::optional<double> rate_hz{};
    /// Sum over all other spikes, including noise, of the probability that a spike of the unit lies
    /// further out, divided by the unit's spikes; 0 is perfect. Empty unless the unit has more
    /// spikes than features and these are independent.
    std::optional<double> l_ratio{};
    /// Squared Mahalanobis distance at which there are as many other spikes as the unit has. Empty
    /// as for `l_ratio`, and if there are fewer other spikes than the unit has.
    std::optional<double> isolation_distance{};
    /// Fraction of intervals between successive spikes that are shorter than the refractory period.
    /// Empty without times, and below two spikes.
    std::optional<double> refractory_violations{};
    /// Fraction of its spikes that belong to other neurons, 0 to 1, estimated from the number of
    /// pairs within the refractory period, if these come from many neurons. Empty as for
    /// `refractory_violations`.
    std::optional<double> contamination{};
    /// Height of its mean waveform divided by the noise of that channel; recordings only.
    std::optional<double> snr{};
    /// Number of pairs of spikes within the refractory period, and the number that as many spikes
    /// of many neurons would have; 0 without times.
    std::uint64_t refractory_pairs = 0;
    double expected_pairs = 0;
    /// The same of its spikes that have no spike of another unit beside them, so that what is left
    /// of collisions does not count. Empty unless waveforms were measured.
    std::uint64_t isolated_pairs = 0;
    std::optional<double> expected_isolated_pairs{};
    /// Fraction of the equal parts of the recording in which it has a spike. There are ten, or as
    /// many as there are whole minutes. Empty without times.
    std::optional<double> presence_ratio{};
    /// Difference between the 95th and the 5th percentile of its rates, in hertz, in intervals of
    /// 10 s. Empty without times, and if the recording is shorter than two of these.
    std::optional<double> firing_range{};
    /// Median height of its spikes in the unit of the filtered traces (microvolts); only if they
    /// were found by templates.
    std::optional<double> amplitude_median{};
    /// Standard deviation of the heights of its spikes, divided by their median. Empty as for
    /// `amplitude_median`.
    std::optional<double> amplitude_cv{};
    /// Estimated fraction of its spikes that were too small to be found, 0 to 0.5. Empty as for
    /// `amplitude_median`, and below 80 spikes.
    std::optional<double> amplitude_cutoff{};
    /// Distance of the two groups into which its spikes divide best, along the line between these
    /// and in their standard deviations there: about 2.7 for one group, which is cut in the middle.
    /// Empty if no two groups of a tenth of the spikes, and of 10, are found.
    std::optional<double> separation{};
    /// The unit, from 1, that seems to have spikes of the same neuron: their mean waveforms are
    /// alike, and they never fire soon after one another, or it has four times as many spikes and
    /// may be one neuron with this one. 0: none.
    std::uint32_t same_neuron_as = 0;
    /// The frequency of the mains, or twice that, in hertz, with which its spikes are in step. 0:
    /// none.
    double mains_hz = 0;

    friend bool operator==(const unit_quality&, const unit_quality&) = default;
};

template <>
struct members_of<unit_quality> {
    static void list(const auto& to) {
        to("rate_hz", &unit_quality::rate_hz,
           "firing rate in spikes per second (Hz); unknown without times");
        to("quality_features", &unit_quality::features,
           "number of features used for `l_ratio` and `isolation_distance`");
        to("l_ratio", &unit_quality::l_ratio,
           "other spikes that are as near as its own, per spike of the unit; 0 if there are none "
           "(Schmitzer-Torbert et al. 2005). Lower is better");
        to("isolation_distance", &unit_quality::isolation_distance,
           "squared Mahalanobis distance within which there are as many other spikes as the unit "
           "has (Schmitzer-Torbert et al. 2005). Higher is better. Compare it, and `l_ratio`, only "
           "between units with the same `quality_features`");
        to("refractory_violations", &unit_quality::refractory_violations,
           "fraction, from 0 to 1, of the intervals between its spikes that are shorter than the "
           "refractory period (`--refractory`, 1.5 ms). Lower is better: a single neuron has "
           "hardly any");
        to("contamination", &unit_quality::contamination,
           "estimated fraction, from 0 to 1, of its spikes that come from other neurons (Llobet et "
           "al. 2022). Lower is better: 0 if no violations were seen");
        to("snr", &unit_quality::snr,
           "only for recordings: the height of the mean waveform divided by the noise of its "
           "channel. Higher is better; a unit below about 2 with a flat mean waveform consists of "
           "noise");
        to("presence_ratio", &unit_quality::presence_ratio,
           "fraction, from 0 to 1, of the equal parts of the recording in which it fires: ten, or "
           "one a minute. Below 0.9 it was lost for a time, or it is silent for long");
        to("firing_range", &unit_quality::firing_range,
           "difference of its high and low rates (95th and 5th percentile in intervals of 10 s), "
           "in Hz; unknown below 20 s");
        to("amplitude_median", &unit_quality::amplitude_median,
           "median height of its spikes in microvolts; only if they were found by templates");
        to("amplitude_cv", &unit_quality::amplitude_cv,
           "standard deviation of the heights of its spikes divided by their median: 0.1 to 0.15 "
           "for most neurons, up to 0.25 for those that fire bursts; only if they were found by "
           "templates");
        to("amplitude_cutoff", &unit_quality::amplitude_cutoff,
           "estimated fraction, from 0 to 0.5, of its spikes that were too small to be found. "
           "Lower is better; unknown below 80 spikes, and only if they were found by templates");
        to("separation", &unit_quality::separation,
           "distance of the two groups into which its spikes divide best, in standard deviations: "
           "about 2.7 for the spikes of one neuron; only for recordings");
    }
};

/// Calls `visit` with the name, the member and the explanation of every figure of the quality.
template <class Visit>
void each_figure(const Visit& visit) {
    members_of<unit_quality>::list([&](const char* name, auto member, std::string_view help) {
        if constexpr (std::is_same_v<decltype(member), std::optional<double> unit_quality::*>)
            visit(name, member, help);
    });
}

/// The label of a unit.
enum class unit_label : std::uint8_t {
    good,   ///< one neuron, nearly all of whose spikes were found
    mua,    ///< spikes of several neurons, or of a part of one ("multi-unit activity")
    noise,  ///< no neuron
};
template <>
SPIKEWEAVE_API enum_table<unit_label> enum_names<unit_label>();

/// The limits of `judge_unit`.
struct label_limits {
    /// A unit of fewer spikes is `noise`.
    std::uint64_t least_spikes = 30;
    /// A unit whose SNR is below is `noise`; at least 0.
    double noise_snr = 2;
    /// A unit whose SNR is below is `mua`, unless few of its spikes are missing; at least 0.
    double least_snr = 3.5;
    /// A unit whose contamination is this or more is `mua`; 0 to 1.
    double contamination = 0.1;
    /// A unit whose amplitude cutoff is above is `mua`; 0 to 0.5.
    double amplitude_cutoff = 0.4;
    /// A unit whose separation is above is `mua`; at least 0.
    double separation = 4.5;
    /// A unit whose variation of amplitudes is above is `mua`; at least 0.
    double amplitude_cv = 0.45;

    friend bool operator==(const label_limits&, const label_limits&) = default;
};

struct unit_verdict {
    unit_label label = unit_label::good;
    /// Why, as a phrase with the figure that decided, such as "contamination 0.23, limit 0.1".
    std::string reason{};

    friend bool operator==(const unit_verdict&, const unit_verdict&) = default;
};
template <>
struct members_of<unit_verdict> {
    static void list(const auto& to) {
        to("label", &unit_verdict::label,
           "`good`, `mua` or `noise`; the other commands use the good units by default");
        to("reason", &unit_verdict::reason, "the limit that decided, with the unit's figure");
    }
};

/// The fraction of its spikes that belong to other neurons, 0 to 1, of a unit with so many pairs of
/// spikes within its refractory period, where so many are expected of spikes of many neurons
/// (Llobet et al. 2022).
SPIKEWEAVE_API double contamination_of(std::uint64_t pairs, double expected_pairs);

/// Labels a unit by the first limit that it breaks, of `noise` before `mua`. Unknown values break
/// no limit. Neither does contamination that cannot be measured: of a unit with at most one pair of
/// spikes within the refractory period, where less than one is expected even of spikes of many
/// neurons; nor that of collisions, if the contamination of isolated spikes is below half the
/// limit.
SPIKEWEAVE_API unit_verdict judge_unit(const unit_quality& quality,
                                       const label_limits& limits = {});

/// One unit of a sorting.
struct sorted_unit {
    std::uint64_t spikes = 0;
    /// Mean number of unmasked features of its spikes.
    double unmasked = 0;
    /// The feature, from 0, with the largest sum of its spikes' masks.
    std::uint32_t peak_feature = 0;
    /// Filled in by the caller, see `measure_quality` and `judge_unit`.
    unit_quality quality{};
    unit_verdict verdict{};
    /// The numbers of units, from 1, with which it may be one neuron, and those of which it may
    /// have cross-talk or that may have some of it, with ", " between them.
    std::string one_neuron_with{};
    std::string cross_talk_with{};
    /// Filled in by the caller: "templates" for a unit of known templates, "new" for one that was
    /// found beside these.
    std::string origin{};
};

template <>
struct members_of<sorted_unit> {
    static void list(const auto& to) {
        to("spikes", &sorted_unit::spikes,
           "number of spikes. With few spikes, the columns below are uncertain");
        to("unmasked_features", &sorted_unit::unmasked,
           "mean number of unmasked features of its spikes; it grows with the number of channels "
           "on which the unit is seen, and is not a measure of quality");
        to("peak_feature", &sorted_unit::peak_feature,
           "the feature with the largest sum of masks, from 0; divided by the features per "
           "channel, it gives the channel");
        to("quality", &sorted_unit::quality);
        to("verdict", &sorted_unit::verdict);
        to("possibly_one_neuron_with", &sorted_unit::one_neuron_with,
           "units that may have spikes of the same neuron, with `, ` between them; only for "
           "recordings");
        to("cross_talk_with", &sorted_unit::cross_talk_with,
           "units of whose spikes these may be what was left, or the other way round; only for "
           "recordings");
        to("origin", &sorted_unit::origin,
           "with `--templates`: `templates` for a unit of these, `new` for one that was found "
           "beside them");
    }
};

/// The quality of each unit.
SPIKEWEAVE_API std::vector<unit_quality> qualities_of(std::span<const sorted_unit> units);
/// Names the units of doubtful pairs in `units`, and finds them there again.
SPIKEWEAVE_API void set_doubtful_pairs(std::span<const doubtful_pair> pairs,
                                       std::span<sorted_unit> units);
SPIKEWEAVE_API std::vector<doubtful_pair> doubtful_pairs_of(std::span<const sorted_unit> units);
/// The label of each unit, as text.
SPIKEWEAVE_API std::vector<std::string> labels_of(std::span<const sorted_unit> units);

/// Unit u is at index u - 1. @throws invalid_argument if the labels do not match the spikes.
SPIKEWEAVE_API std::vector<sorted_unit> describe_units(const spike_features& features,
                                                       const sorting& sorted);

/// The features used for each unit, ascending: those where its spikes have a mean mask of at least
/// `least_mask`; if there are none, those with the largest mean. Unit u is at index u - 1. @throws
/// invalid_argument if the labels are not those of the spikes.
SPIKEWEAVE_API std::vector<std::vector<std::uint32_t>> counting_features(
    const spike_features& features, const sorting& sorted, double least_mask);

/// Unit u is at index u - 1; measures that need waveforms or amplitudes are left empty. Masks only
/// decide which features are used: values are used unchanged, including masked ones, which show the
/// noise. Spikes for which none of a unit's features is known are not compared with it. Units are
/// measured in parallel, each in O(spikes * features used^2), with 8 bytes per spike and thread.
/// Ignores the devices of `run`.
/// @throws invalid_argument if the labels do not match the spikes, or unless the refractory
/// period is above 0 and `least_mask` in (0, 1]; cancelled.
///
/// Schmitzer-Torbert et al. 2005, doi:10.1016/j.neuroscience.2004.09.066 (L-ratio, isolation
/// distance); Llobet, Wyngaard, Barbour 2022, doi:10.1101/2022.02.08.479192 (contamination).
SPIKEWEAVE_API std::vector<unit_quality> measure_quality(const spike_features& features,
                                                         const sorting& sorted,
                                                         const quality_options& options = {},
                                                         const execution& run = {});

/// Adds the separation of the spikes of each unit, of at most 5,000 spread over it, by their
/// features on the eight channels with the largest masks. In parallel; ignores the devices of
/// `run`.
/// @param features  `features_per_channel` for each channel
/// @throws invalid_argument if the numbers of units, spikes or features differ; cancelled.
SPIKEWEAVE_API void measure_separation(const spike_features& features,
                                       std::size_t features_per_channel, const sorting& sorted,
                                       std::span<unit_quality> quality, const execution& run = {});

/// Finds units that may have spikes of the same neuron, by their mean waveforms and the times of
/// their spikes, and units that may have residuals of another unit's spikes.
/// @param waveforms  of noise and of each unit
/// @return none without times; units are named by their numbers, from 1
/// @throws invalid_argument if the numbers of units differ.
SPIKEWEAVE_API std::vector<doubtful_pair> find_doubtful_units(const mean_waveforms& waveforms,
                                                              const sorting& sorted);

/// Adds the measures that need the mean waveforms of the units of a recording and the amplitudes of
/// their spikes.
/// @param waveforms   of noise and of each unit
/// @param amplitudes  of each spike, relative to the mean waveform of its unit; may be empty
/// @param quality     of each unit; unit u is at index u - 1
/// @param options     of `measure_quality`
/// @throws invalid_argument if the numbers of units or spikes differ.
SPIKEWEAVE_API void measure_waveforms(const mean_waveforms& waveforms, const sorting& sorted,
                                      std::span<const float> amplitudes,
                                      std::span<unit_quality> quality,
                                      const quality_options& options = {});

/// The estimated fraction of spikes that are missing because they were too small, 0 to 0.5: the
/// upper side of the histogram of amplitudes, beyond the height at which the lower side ends, is
/// used for the part that the lower side lacks. Empty below 80 amplitudes.
///
/// After Hill, Mehta, Kleinfeld 2011, doi:10.1523/JNEUROSCI.0971-11.2011, as the Allen Institute,
/// the IBL and SpikeInterface compute it: with 100 bins, but here with a fifth as many bins as
/// spikes below 500.
SPIKEWEAVE_API std::optional<double> amplitude_cutoff(std::span<const float> amplitudes);

}  // namespace spikeweave
