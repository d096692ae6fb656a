#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// The method by which a surrogate is made. The last ten methods are those of Elephant's SPADE
/// under its names; docs/algorithms/surrogates.md describes what each preserves and destroys.
enum class surrogate_method : std::uint8_t {
    interval_jitter,  ///< each spike moves to a uniform place within its own interval of a fixed
                      ///< grid (2 × dither wide)
    spike_dithering,  ///< each spike moves by a uniform amount in [-dither, dither]
    dither_spikes,    ///< like spike_dithering, but ignores dead times and the ends of the span
                      ///< (see `edges`)
    dither_spikes_with_refractory_period,  ///< each spike moves within [-dither, dither], as far as
                                           ///< its neighbours and their dead time leave room
    dither_spike_train,                    ///< all spikes of a unit move by the same amount
    jitter_spikes,        ///< each spike moves within its own interval of a grid, dither wide
    randomise_spikes,     ///< each spike moves to a uniform place in the whole span
    shuffle_isis,         ///< the intervals between spikes are put in random order
    joint_isi_dithering,  ///< each spike moves as the unit's pairs of intervals make likely
    isi_dithering,        ///< each spike moves as the unit's single intervals make likely
    trial_shifting,       ///< each trial is rotated by a uniform amount in [-dither, dither]
    bin_shuffling,        ///< the bins of each block, 2 × dither wide, are put in random order
};
template <>
SPIKEWEAVE_API enum_table<surrogate_method> enum_names<surrogate_method>();

/// The treatment of spikes that dither_spikes and dither_spike_train move to an end of the span or
/// beyond.
enum class surrogate_edges : std::uint8_t {
    drop,   ///< they are dropped
    clamp,  ///< they are placed at that end
};
template <>
SPIKEWEAVE_API enum_table<surrogate_edges> enum_names<surrogate_edges>();

/// The distance that joint_isi_dithering and isi_dithering may move a spike.
enum class joint_isi_steps : std::uint8_t {
    window,  ///< by at most dither
    fast,    ///< as far as the neighbouring spikes; Elephant's "fast"
};
template <>
SPIKEWEAVE_API enum_table<joint_isi_steps> enum_names<joint_isi_steps>();

/// Options of the distribution of intervals that joint_isi_dithering and isi_dithering use (Louis
/// et al. 2010, doi:10.3389/fncom.2010.00127), with Elephant's defaults.
struct joint_isi_options {
    duration truncation_limit = std::chrono::milliseconds{100};  ///< longest interval included
    std::uint32_t bins = 100;                       ///< number of bins along each axis, 2 to 1,000
    duration sigma = std::chrono::milliseconds{2};  ///< width of the Gaussian filter; 0 means no
                                                    ///< filter and no `cutoff`
    bool alternate = true;  ///< move every second spike first, then the others
    bool use_sqrt = false;  ///< take the square root of the counts before the filter
    joint_isi_steps steps = joint_isi_steps::window;
    bool cutoff = true;  ///< allow no interval below the dead time
    duration refractory_period = std::chrono::milliseconds{4};  ///< upper bound of the dead time
};

SPIKEWEAVE_API option_list describe(joint_isi_options& options);

/// The number of surrogates, and the method by which they are made.
struct surrogate_options {
    std::uint32_t surrogates = 0;
    surrogate_method method = surrogate_method::interval_jitter;
    duration dither = std::chrono::milliseconds{6};  ///< above 0, at most 1 h
    std::uint64_t seed = 0;
    surrogate_edges edges = surrogate_edges::drop;
    /// For dither_spikes_with_refractory_period: spikes of a unit stay this far apart, or as far as
    /// its closest spikes were. If not set, the width of a bin, as in SPADE, or 5 ms without bins.
    std::optional<duration> refractory_period{};
    /// For bin_shuffling: shuffle a block from every bin on, one after another.
    bool sliding = false;
    /// For trial_shifting: half-open trials [begin, end), ascending, without overlap. Spikes
    /// outside of them are left out. If not set, the epochs of the spikes.
    std::vector<time_span> trials{};
    joint_isi_options joint_isi{};
};

/// Describes the options except `trials` and `joint_isi`.
SPIKEWEAVE_API option_list describe(surrogate_options& options);

/// One of several equal parts of the surrogates, for runs that divide them: part `part` of `parts`,
/// from 1. All parts together are all surrogates, each of them once.
struct SPIKEWEAVE_API surrogate_part {
    std::uint32_t part = 1;
    std::uint32_t parts = 1;

    bool is_all() const { return parts == 1; }
    /// The number of the first of `n` surrogates in this part; in that of the next part, the part
    /// ends. @throws invalid_argument if this is no part.
    std::uint32_t begin(std::uint32_t n) const;
    std::uint32_t end(std::uint32_t n) const;
    friend bool operator==(const surrogate_part&, const surrogate_part&) = default;
};

/// @throws invalid_argument if this is no part, or there are fewer surrogates than parts.
SPIKEWEAVE_API void check_part(const surrogate_part& part, const surrogate_options& options);

/// Parts are written "3/20", and all surrogates not at all.
template <>
struct SPIKEWEAVE_API option_codec<surrogate_part> {
    static constexpr auto kind = option_kind::text;
    static constexpr bool may_be_unset = true;
    static option_value show(const surrogate_part& field);
    static surrogate_part read(const option_value& value);
};

/// The trials of a concatenated recording: one every `length` + `separation`, from the beginning of
/// the span. Every trial that begins in the span is included, and the last may be cut off at its
/// end; Elephant has only trials whose separation also lies completely in the span.
/// @throws invalid_argument if length is not above 0, if separation is negative, or if there are
/// more than 2^32 - 1 trials.
SPIKEWEAVE_API std::vector<time_span> regular_trials(time_span span, duration length,
                                                     duration separation,
                                                     compatibility compat = compatibility::none);

/// A warning that the last of the `regular_trials` is cut off at the end of the span, or is missing
/// there with Elephant's rule, as a full sentence; empty if each trial is whole.
/// @throws invalid_argument as `regular_trials`.
SPIKEWEAVE_API std::string note_of_cut_trial(time_span span, duration length, duration separation,
                                             compatibility compat = compatibility::none);

/// A surrogate, and what happened to the spikes that it lacks.
struct surrogate_spikes {
    spike_sequence spikes{};
    /// Number of spikes lost because two spikes of a unit fell on one microsecond and became one.
    std::size_t merged = 0;
    /// Number of spikes that moved out of the span, or were in no trial or bin.
    std::size_t dropped = 0;
};

/// Makes the surrogates of one recording. Their common quantities are computed once; `make` and
/// `make_sequence` may be called from any number of threads. Surrogate number `which` is a pure
/// function of spikes, options and bins: each unit draws from its own random stream.
///
/// If the spikes have epochs, each epoch is treated as a separate recording, so that no spike
/// leaves its epoch; bin_shuffling cannot do that.
///
/// Times remain whole microseconds. interval_jitter and spike_dithering reflect spikes that would
/// leave the span, and keep close spikes of a unit together: spikes of a unit less than 4 ms (or
/// half the dither) apart move together, and no others come as close. So dead times are kept, even
/// if a few doublets break them; surrogates with more close spikes make regular firing look like
/// coordination (Stella, Bouss, Palm and Grün 2022, eNeuro, doi:10.1523/ENEURO.0505-21.2022).
/// interval_jitter gives up this distance between two intervals that are too full. These two,
/// dither_spikes_with_refractory_period, jitter_spikes, randomise_spikes, shuffle_isis,
/// joint_isi_dithering and isi_dithering keep every spike; trial_shifting keeps every spike of its
/// trials. The others may drop spikes at the ends, or move two spikes of a unit to one microsecond,
/// where they become one.
class SPIKEWEAVE_API surrogate_maker {
public:
    /// @throws invalid_argument if an option is out of range: a dither outside (0, 1 h] or shorter
    /// than a bin to shuffle, trials that are missing, empty, unsorted or overlapping, or
    /// bin_shuffling for spikes with epochs.
    surrogate_maker(const spike_sequence& spikes, const surrogate_options& options);
    /// Makes binned surrogates possible (`make`).
    /// @throws invalid_argument also like `bin_spikes`.
    surrogate_maker(const spike_sequence& spikes, const surrogate_options& options,
                    const binning_options& bins);

    /// Makes surrogate number `which` as a spike sequence.
    surrogate_spikes make_sequence(std::uint32_t which) const;
    /// Makes surrogate number `which` in bins, on the grid of the original. A spike in no bin is
    /// left out. bin_shuffling permutes the bins of the original; spikes in one bin count once.
    /// @throws invalid_argument if the maker was constructed without bins.
    binned_spikes make(std::uint32_t which) const;

private:
    struct SPIKEWEAVE_LOCAL set_up;
    std::shared_ptr<const set_up> set_up_;
};

/// Makes a single surrogate like `surrogate_maker::make_sequence`, and returns its spikes.
/// @throws invalid_argument like the constructor of `surrogate_maker`.
SPIKEWEAVE_API spike_sequence make_surrogate(const spike_sequence& spikes,
                                             const surrogate_options& options, std::uint32_t which);
/// Makes a single binned surrogate like `surrogate_maker::make`.
SPIKEWEAVE_API binned_spikes make_binned_surrogate(const spike_sequence& spikes,
                                                   const binning_options& bins,
                                                   const surrogate_options& options,
                                                   std::uint32_t which);

}  // namespace spikeweave
