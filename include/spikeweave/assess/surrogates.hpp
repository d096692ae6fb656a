#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// How a surrogate is made. The last ten are those of Elephant's SPADE under its names;
/// docs/algorithms/surrogates.md says what each keeps and destroys.
enum class surrogate_method : std::uint8_t {
    interval_jitter,  ///< each spike goes to a uniform place within its own interval of a fixed
                      ///< grid (2 × dither wide)
    spike_dithering,  ///< each spike moves by a uniform amount in [-dither, dither]
    dither_spikes,    ///< the same without regard to dead times and ends (`edges`)
    dither_spikes_with_refractory_period,  ///< within [-dither, dither] as far as the neighbours
                                           ///< and their dead time leave room
    dither_spike_train,                    ///< all spikes of a unit move together
    jitter_spikes,        ///< a uniform place in the spike's own interval of a grid, dither wide
    randomise_spikes,     ///< uniform places in the whole span
    shuffle_isis,         ///< the intervals in random order
    joint_isi_dithering,  ///< each spike moves as the unit's pairs of intervals make likely
    isi_dithering,        ///< the same from single intervals
    trial_shifting,       ///< each trial is turned by a uniform amount in [-dither, dither]
    bin_shuffling,        ///< the bins of each block, 2 × dither wide, in random order
};
/// "interval-jitter", "spike-dithering", and Elephant's names, such as "trial_shifting".
std::string_view to_string(surrogate_method method);
/// '-' and '_' are the same. @throws invalid_argument naming the methods there are.
surrogate_method surrogate_method_from(std::string_view name);
/// All, in the order of the enumeration.
std::vector<surrogate_method> surrogate_methods();

/// What becomes of spikes that dither_spikes and dither_spike_train move to an end of the span or
/// beyond.
enum class surrogate_edges : std::uint8_t {
    drop,
    clamp,  ///< to the end
};

enum class joint_isi_steps : std::uint8_t {
    window,  ///< at most dither far
    fast,    ///< as far as the neighbours; Elephant's "fast"
};

/// The distribution of intervals of joint_isi_dithering and isi_dithering (Louis et al. 2010,
/// doi:10.3389/fncom.2010.00127), with Elephant's defaults.
struct joint_isi_options {
    duration truncation_limit = std::chrono::milliseconds{100};  ///< longest interval in it
    std::uint32_t bins = 100;                                    ///< along each axis, 2 to 1,000
    duration sigma = std::chrono::milliseconds{2};  ///< of the Gaussian filter; 0: none, and no
                                                    ///< `cutoff`
    bool alternate = true;                          ///< every second spike, then the others
    bool use_sqrt = false;                          ///< of the counts, before the filter
    joint_isi_steps steps = joint_isi_steps::window;
    bool cutoff = true;                                         ///< no interval below the dead time
    duration refractory_period = std::chrono::milliseconds{4};  ///< the dead time at most
};

struct surrogate_options {
    std::uint32_t surrogates = 0;
    surrogate_method method = surrogate_method::interval_jitter;
    duration dither = std::chrono::milliseconds{6};  ///< above 0, at most 1 h
    std::uint64_t seed = 0;
    surrogate_edges edges = surrogate_edges::drop;
    /// dither_spikes_with_refractory_period: spikes stay this far apart, or as far as the closest
    /// of the unit were. Without one: the bin, as SPADE does; 5 ms where nothing is binned.
    std::optional<duration> refractory_period{};
    /// bin_shuffling: blocks that begin at every bin, one after another.
    bool sliding = false;
    /// trial_shifting: half-open [begin, end), ascending and apart. Spikes elsewhere are left out.
    std::vector<time_span> trials{};
    joint_isi_options joint_isi{};
};

enum class last_trial : std::uint8_t {
    kept,      ///< every trial that begins in the span; the last may be cut by its end
    elephant,  ///< only trials with the whole of their separation in the span
};
/// Trials of a concatenated recording: from the beginning of the span one every `length` +
/// `separation`.
/// @throws invalid_argument unless length is above 0 and separation at least 0, or for more than
/// 2^32 - 1 trials.
std::vector<time_span> regular_trials(time_span span, duration length, duration separation,
                                      last_trial last = last_trial::kept);

/// A surrogate, and what became of the spikes that it has less.
struct surrogate_spikes {
    spike_sequence spikes{};
    /// Met another spike of their unit on the same microsecond; the two are one.
    std::size_t merged = 0;
    /// Moved out of the span, or stood in no trial or bin.
    std::size_t dropped = 0;
};

/// Makes the surrogates of one recording. What they share is computed once; `make` and
/// `make_sequence` may be called from any number of threads. Surrogate number `which` is a pure
/// function of spikes, options and bins: each unit draws from a stream of its own.
///
/// Times stay whole microseconds. interval_jitter and spike_dithering reflect what would leave the
/// span and keep each unit's close spikes: spikes of a unit that are less than 4 ms (or half the
/// dither) apart move together, and no others come as close. So dead times hold, also where a few
/// doublets break them; surrogates with more close spikes make regular firing look like
/// coordination (Stella, Bouss, Palm and Grün 2022, eNeuro, doi:10.1523/ENEURO.0505-21.2022).
/// interval_jitter gives the distance up between two intervals that are too full. These two,
/// dither_spikes_with_refractory_period, jitter_spikes, randomise_spikes, shuffle_isis and the two
/// by intervals keep every spike; trial_shifting keeps every spike of its trials. The others may
/// drop spikes at the ends or put two of a unit on one microsecond, where they become one.
class surrogate_maker {
public:
    /// @throws invalid_argument for options that cannot be: a dither outside (0, 1 h] or shorter
    /// than a bin to shuffle, trials that are missing, empty, unsorted or overlap.
    surrogate_maker(const spike_sequence& spikes, const surrogate_options& options);
    /// With bins, for `make`.
    /// @throws as `bin_spikes`, too.
    surrogate_maker(const spike_sequence& spikes, const surrogate_options& options,
                    const binning& bins);

    surrogate_spikes make_sequence(std::uint32_t which) const;
    /// The surrogate in bins, on the grid of the original; a spike in no bin is left out.
    /// bin_shuffling permutes the bins of the original, spikes that share one counted once.
    /// @throws invalid_argument when it was made without bins.
    binned_spikes make(std::uint32_t which) const;

private:
    struct set_up;
    std::shared_ptr<const set_up> set_up_;
};

/// The spikes of `surrogate_maker::make_sequence`, once.
/// @throws invalid_argument as its constructor.
spike_sequence make_surrogate(const spike_sequence& spikes, const surrogate_options& options,
                              std::uint32_t which);
/// `surrogate_maker::make`, once.
binned_spikes make_binned_surrogate(const spike_sequence& spikes, const binning& bins,
                                    const surrogate_options& options, std::uint32_t which);

}  // namespace spikeweave
