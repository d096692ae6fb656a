#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spikeweave/assess/spade.hpp"
#include "spikeweave/assess/spade/stability.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/compatibility.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/pipeline/epochs.hpp"
#include "spikeweave/pipeline/run_options.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// Chooses `min_occ` for each size by the published estimate from the rates (`estimate_rules`).
struct auto_min_occ {
    friend bool operator==(const auto_min_occ&, const auto_min_occ&) = default;
};
/// Thresholds that differ by size, as pairs (spikes, occurrences), ascending. The last one also
/// holds for all larger sizes.
using min_occ_by_size = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using min_occ_choice = std::variant<auto_min_occ, std::uint32_t, min_occ_by_size>;

/// All options of a SPADE analysis, with their defaults.
struct SPIKEWEAVE_API spade_options {
    duration bin = std::chrono::milliseconds{5};
    std::uint32_t window = 20;  ///< length of a window in bins
    /// Spikes before `t_start` or after `t_stop` are left out. If not set, nothing is left out.
    std::optional<duration> t_start{};
    std::optional<duration> t_stop{};
    /// If given, only these epochs are analysed, one after another, and each is a trial. Cannot be
    /// combined with `t_start`, `t_stop` or `trial_length`.
    std::vector<time_span> epochs{};
    std::optional<duration> separation{};  ///< gap between two epochs; if not set, two windows

    min_occ_choice min_occ = auto_min_occ{};
    /// If not set, 2; with `min_occ` by size, the sizes that it names.
    std::optional<std::uint32_t> min_spikes{};
    std::uint32_t max_spikes = 0;  ///< 0 means no bound
    /// If not set, 1; with `auto_min_occ`, the number of spikes.
    std::optional<std::uint32_t> min_neu{};
    /// If given, used instead of `min_occ`, `min_spikes`, `max_spikes` and `min_neu`.
    std::vector<pattern_rule> rules{};
    std::uint32_t max_occ = 0;  ///< 0 means no bound
    /// Removes patterns that are part of a longer pattern that begins earlier.
    bool subset_filter = true;
    spade_strategy strategy = spade_strategy::automatic;

    /// The options of surrogates. Their `method` and trials are ignored; `prepare_spade` sets them.
    /// Its seed is also used for `stability`.
    surrogate_options surrogates{.dither = std::chrono::milliseconds{15}};
    std::optional<surrogate_method> method{};  ///< if not set, usual_method()
    /// If set, the recording consists of trials of this length, from its beginning.
    std::optional<duration> trial_length{};
    duration trial_separation{};  ///< gap between the end of a trial and the next one
    spectrum_kind spectrum = spectrum_kind::size_count;
    double alpha = 0.01;
    correction_method correction = correction_method::benjamini_hochberg;
    /// The share of the time that is held out: patterns are searched and tested in the rest, and
    /// the remaining ones are counted and tested in the held-out time. 0: all is searched.
    double hold_out = 0;
    /// Time is held out in blocks of this length, evenly spread; epochs and trials are held out as
    /// a whole.
    duration hold_out_block = std::chrono::seconds{10};
    /// h, k and l of the pattern set reduction. If not set, patterns are not reduced.
    std::optional<std::array<std::uint32_t, 3>> reduce{};
    /// The options of stability. If not set, it is not computed. Its seed is ignored.
    std::optional<stability_options> stability{};
    /// Only patterns with at least one of their two stabilities above this are kept. Needs
    /// `stability`.
    spikeweave::stability stability_threshold{};
    compatibility compat = compatibility::none;
    /// The devices search surrogates, and the first one the data themselves, unless ranks share
    /// that search or `strategy` is FP-growth. If devices are not set, the first GPU is used for
    /// many surrogates. With ranks, each uses one of them, by its position on its host.
    run_options run{};

    std::uint32_t least_spikes() const { return min_spikes.value_or(2); }
    duration epochs_apart() const { return separation.value_or(2 * bin * window); }
    surrogate_method usual_method() const;
    bool is_tested() const { return surrogates.surrogates > 0; }
    bool filters_by_stability() const {
        return stability && stability_threshold != spikeweave::stability{};
    }
    signature_test_options testing() const {
        return {.alpha = alpha, .correction = correction, .compat = compat};
    }
};

SPIKEWEAVE_API option_list describe(spade_options& options);

/// The length of a window in bins, from a number of bins or a time that is a multiple of `bin`:
/// "20", "100ms".
/// @throws invalid_argument for another text
SPIKEWEAVE_API std::uint32_t window_in_bins(std::string_view text, duration bin);

/// The devices that search the surrogates of an analysis: those of the options, or, if they are not
/// set, the first GPU if there is one and enough surrogates are searched for it to be faster.
/// Empty means the CPU.
SPIKEWEAVE_API std::vector<int> devices_for_surrogates(const spade_options& options);

/// Checks everything that can be checked without the data: the range of each option, and whether
/// the options fit together.
/// @param has_spikes  false if only windows are available
/// @throws invalid_argument if an option is out of range or options contradict each other.
SPIKEWEAVE_API void check_spade(const spade_options& options, bool has_spikes = true);

/// The rules that follow from the options. For `auto_min_occ` they are estimated from the firing
/// rates; without rates, the lowest threshold is used.
/// @param spike_counts  number of spikes of each unit, not clipped
/// @throws invalid_argument like `estimate_rules`.
SPIKEWEAVE_API std::vector<pattern_rule> rules_of(const spade_options& options,
                                                  std::span<const std::size_t> spike_counts,
                                                  duration length);

/// "auto", "20", or "2:88,3:25" by size.
template <>
struct SPIKEWEAVE_API option_codec<min_occ_choice> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const min_occ_choice& field);
    static min_occ_choice read(const option_value& value);
};

/// "25:3:3,20:4": occurrences, spikes, and, if they are not the defaults, units and most spikes.
template <>
struct SPIKEWEAVE_API option_codec<std::vector<pattern_rule>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::vector<pattern_rule>& field);
    static std::vector<pattern_rule> read(const option_value& value);
};

/// "H,K,L".
template <>
struct SPIKEWEAVE_API option_codec<std::array<std::uint32_t, 3>> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const std::array<std::uint32_t, 3>& field);
    static std::array<std::uint32_t, 3> read(const option_value& value);
};

/// The number of subsets, or "DELTA,EPSILON".
template <>
struct SPIKEWEAVE_API option_codec<stability_options> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const stability_options& field);
    static stability_options read(const option_value& value);
};

/// "INTENSIONAL,EXTENSIONAL"; null if both are 0.
template <>
struct SPIKEWEAVE_API option_codec<stability> {
    static constexpr auto kind = option_kind::text;
    static option_value show(const stability& field);
    static stability read(const option_value& value);
};

}  // namespace spikeweave
