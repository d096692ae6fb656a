#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "synfire/synfire.hpp"

namespace synfire::cli {

/// The published estimate from the rates.
struct auto_min_occ {};
/// Thresholds that differ by size: (spikes, occurrences), ascending; the last holds for all sizes
/// above.
using min_occ_by_size = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using min_occ_choice = std::variant<auto_min_occ, std::uint32_t, min_occ_by_size>;

enum class elephant_mode : std::uint8_t { none, seconds, milliseconds };

struct trial_grid {
    duration length{};
    duration separation{};
};

struct spade_choices {
    /// The options that were typed, such as "--alpha".
    std::set<std::string> given{};
    std::string path{};
    spike_reading how{};
    bool transactions = false;  ///< FILE holds windows, not spikes
    /// Empty: the terminal's result is all.
    std::string to{};
    bool overwrite = false;
    bool json = false;
    bool occurrences = false;
    bool nwb = false;

    duration bin = std::chrono::milliseconds{5};
    std::uint32_t window = 20;
    std::optional<duration> from{};
    std::optional<duration> until{};
    std::string epochs{};
    std::optional<duration> separation{};
    std::vector<std::string> only_units{};

    min_occ_choice min_occ = auto_min_occ{};
    std::uint32_t min_spikes = 2;
    std::uint32_t max_spikes = 0;
    std::uint32_t max_occ = 0;
    std::optional<std::uint32_t> min_neu{};
    /// In place of `min_occ`, `min_spikes`, `max_spikes` and `min_neu`.
    std::vector<pattern_rule> rules{};
    bool keep_window_subsets = false;
    spade_strategy strategy = spade_strategy::automatic;

    /// `surrogates.method` is that of `method` once that is known.
    surrogate_options surrogates{.dither = std::chrono::milliseconds{15}};
    std::optional<surrogate_method> method{};
    std::optional<duration> trial_length{};
    duration trial_separation{};
    spectrum_kind kind = spectrum_kind::size_count;
    double alpha = 0.01;
    correction correct = correction::benjamini_hochberg;
    /// h, k, l; without it nothing is reduced.
    std::optional<std::array<std::uint32_t, 3>> reduce{};
    /// Without it no stability is computed.
    std::optional<stability_options> stable{};
    stability least_stable{};
    elephant_mode elephant = elephant_mode::none;

    int threads = 0;
    std::uint64_t max_memory_bytes = 0;

    duration epochs_apart() const { return separation.value_or(2 * bin * window); }
    bool was_given(const std::string& option) const { return given.contains(option); }
    /// What `method` is without one.
    surrogate_method usual_method() const;
    compatibility compat() const {
        return elephant == elephant_mode::none ? compatibility::none : compatibility::elephant;
    }
};

void add_options(CLI::App& app, spade_choices& choices);

/// What the options say without a look at the data.
/// @throws invalid_argument for what does not go together.
void check(const spade_choices& choices);

/// Where an option changes nothing, as whole sentences.
std::vector<std::string> warnings_of(const spade_choices& choices);

/// The rules that are asked for; of `auto` those of the spikes' rates.
/// @param spike_counts  of each unit, not clipped
std::vector<pattern_rule> rules_of(const spade_choices& choices,
                                   const std::vector<std::size_t>& spike_counts, duration length);
/// "2 spikes of 2 or more units: 86 times; 3 or more spikes of 3 or more units: 25 times"
std::string describe(const std::vector<pattern_rule>& rules);

/// Every parameter as it was resolved, for the record of the run.
std::vector<std::pair<std::string, std::string>> resolved_parameters(
    const spade_choices& choices, const std::vector<pattern_rule>& rules);

}  // namespace synfire::cli
