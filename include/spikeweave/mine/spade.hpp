#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// One spike of a pattern: `unit * window_bins + lag`, the published encoding. The lag is counted
/// in bins from the start of the window.
using pattern_item = std::uint32_t;

/// The windows in which SPADE looks for patterns (Torre et al. 2013, doi:10.3389/fncom.2013.00132;
/// Quaglio et al. 2017, doi:10.3389/fncom.2017.00041): one at every bin in which some unit fires.
/// A window at bin w holds the item (unit, lag) if the unit fires in bin w + lag.
///
/// 4 bytes an item; a spike is in at most `window_bins` windows.
class spade_windows {
public:
    /// @throws invalid_argument for no bins or when unit_count * window_bins does not fit in 31
    /// bits; cancelled.
    spade_windows(const binned_spikes& spikes, std::uint32_t window_bins,
                  const std::stop_token& stop = {});
    /// Windows that are given, as the published benchmark gives them; their start bins are not
    /// known, so that `pattern_table::occurrences` numbers the windows.
    /// @param offsets  where the items of each window begin, one more than windows
    /// @param items    strictly ascending within a window, below unit_count * window_bins
    spade_windows(std::vector<std::size_t> offsets, std::vector<pattern_item> items,
                  std::size_t unit_count, std::uint32_t window_bins);

    std::size_t size() const { return starts_.size(); }
    std::size_t unit_count() const { return unit_count_; }
    std::uint32_t window_bins() const { return window_bins_; }
    /// Strictly ascending.
    std::span<const pattern_item> items(std::size_t window) const {
        return std::span{items_}.subspan(offsets_[window], offsets_[window + 1] - offsets_[window]);
    }
    std::size_t item_count() const { return items_.size(); }
    /// The bin at which each window starts, ascending; its number for windows that were given.
    std::span<const std::uint32_t> starts() const { return starts_; }
    /// Whether `starts` are bins. Only then can it be known what precedes a window.
    bool from_bins() const { return from_bins_; }

private:
    std::size_t unit_count_ = 0;
    std::uint32_t window_bins_ = 0;
    bool from_bins_ = false;
    std::vector<std::size_t> offsets_{0};
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> starts_;
};

/// One window a line, its items as numbers parted by blanks, in any order; gzip is seen through.
/// An empty line is a window without items. The number of units follows from the largest item.
/// @throws io_error with the line for what is no number, an item that stands twice, one above
/// 2^31 - 1, or a file without any item.
spade_windows read_transactions(const std::filesystem::path& path, std::uint32_t window_bins,
                                const execution& run = {});

/// Which patterns are wanted. The names are Elephant's.
struct pattern_rule {
    std::uint32_t min_occ = 2;     ///< occurrences (windows), at least 1
    std::uint32_t min_spikes = 2;  ///< spikes of the pattern, at least 1
    std::uint32_t max_spikes = 0;  ///< 0: no bound
    std::uint32_t min_neu = 1;     ///< different units, at least 1

    friend bool operator==(const pattern_rule&, const pattern_rule&) = default;
};

enum class spade_strategy : std::uint8_t {
    automatic,
    fp_growth,  ///< Porrmann et al. 2021 (doi:10.3389/fninf.2021.723406): FP-growth with the filter
                ///< in the collector
    first_bin,  ///< depth-first search of closed patterns only, from spikes in the first bin
};
std::string_view to_string(spade_strategy strategy);
spade_strategy spade_strategy_from(std::string_view name);  ///< @throws invalid_argument
/// Those that can run here, `automatic` first.
std::vector<spade_strategy> available_spade_strategies();

struct spade_options {
    /// A pattern is wanted when one of these takes it: thresholds that differ by size are one
    /// search.
    std::vector<pattern_rule> rules{pattern_rule{}};
    std::uint32_t max_occ = 0;  ///< patterns with more occurrences are left out; 0: no bound
    /// Leave out what is a part of a longer pattern with the same occurrences that begins earlier
    /// (Elephant's filter for moving windows). Only for windows `from_bins` of at least two bins.
    bool drop_window_subsets = true;
    bool with_occurrences = true;
    /// Elephant's shortcut: windows that all hold the same items are the one pattern, whatever the
    /// rules and `max_occ` say.
    bool take_identical_windows = false;
    spade_strategy strategy = spade_strategy::automatic;
};

/// Closed patterns as flat arrays.
///
/// The items of a pattern are in time order: by lag, then by unit; the first has lag 0. The order
/// of the patterns is the same whatever found them: by their first item; those that share it, as
/// words whose letters are their other items, from the one that is in the fewest windows together
/// with the first (then in time order) to the one that is in the most. A search can go through
/// patterns in this order fast and without collecting them.
struct pattern_table {
    std::uint32_t window_bins = 1;
    std::vector<std::uint64_t> item_offsets{0};  ///< size() + 1
    std::vector<pattern_item> items{};
    std::vector<std::uint32_t> counts{};               ///< windows that hold the pattern
    std::vector<std::uint64_t> occurrence_offsets{0};  ///< size() + 1, or {0} without occurrences
    std::vector<std::uint32_t> occurrences{};          ///< start bins, ascending

    std::size_t size() const { return counts.size(); }
    bool empty() const { return counts.empty(); }
    std::span<const pattern_item> pattern(std::size_t i) const {
        return std::span{items}.subspan(item_offsets[i], item_offsets[i + 1] - item_offsets[i]);
    }
    std::span<const std::uint32_t> occurrences_of(std::size_t i) const {
        return std::span{occurrences}.subspan(occurrence_offsets[i],
                                              occurrence_offsets[i + 1] - occurrence_offsets[i]);
    }
    unit_id unit(pattern_item item) const { return unit_id{item / window_bins}; }
    std::uint32_t lag(pattern_item item) const { return item % window_bins; }
    /// Bins from the first spike to the last.
    std::uint32_t duration(std::size_t i) const { return lag(items[item_offsets[i + 1] - 1]); }

    void append(std::span<const pattern_item> pattern, std::uint32_t count,
                std::span<const std::uint32_t> starts = {});

    friend bool operator==(const pattern_table&, const pattern_table&) = default;
};

struct mining_summary {
    std::uint64_t closed = 0;          ///< patterns that are closed and that a rule takes
    std::uint64_t window_subsets = 0;  ///< of these dropped as parts of longer ones
    std::uint64_t too_frequent = 0;    ///< of the rest dropped by `max_occ`
    spade_strategy ran_on = spade_strategy::automatic;
};

/// Finds every closed pattern that a rule takes: no spike can be added without losing an
/// occurrence, also beyond `max_spikes`; one of its spikes is in the first bin. Hands them on
/// block by block in the order of `pattern_table`, from one thread at a time.
/// @throws invalid_argument for rules that cannot be; cancelled.
mining_summary mine_patterns(const spade_windows& windows, const spade_options& options,
                             const std::function<void(const pattern_table& block)>& take,
                             const execution& run = {});

/// The same, collected.
struct mined_patterns {
    pattern_table table{};
    mining_summary summary{};
};
mined_patterns mine_patterns(const spade_windows& windows, const spade_options& options,
                             const execution& run = {});

/// What a search will take, extrapolated from a small part of it: good to a factor of about two.
struct spade_estimate {
    std::uint64_t candidates = 0;  ///< patterns that the search will look at
    std::uint64_t patterns = 0;    ///< that it will find
    double seconds = 0;            ///< with `first_bin` on one thread
    bool at_least = false;  ///< a small part alone took too long: all of these may be far too low
    std::uint64_t search_bytes = 0;
    std::uint64_t table_bytes = 0;  ///< of all patterns, were they collected
};
/// Takes about half a second, two at most. @throws invalid_argument, cancelled as `mine_patterns`.
spade_estimate estimate_mining(const spade_windows& windows, const spade_options& options,
                               const execution& run = {});

enum class spectrum_kind : std::uint8_t {
    size_count,           ///< "#": signatures are (size, count)
    size_count_duration,  ///< "3d#": (size, count, duration)
};
std::string_view to_string(spectrum_kind kind);
spectrum_kind spectrum_kind_from(std::string_view name);  ///< @throws invalid_argument

/// The most occurrences of any pattern by size and duration.
struct occurrence_maxima {
    std::uint32_t durations = 1;  ///< window_bins with "3d#", 1 with "#"
    /// Row z of `durations` columns: the most occurrences of a wanted pattern of z or more spikes
    /// with just that duration; 0 without one. Rows up to the largest pattern found.
    std::vector<std::uint32_t> most{};

    std::uint32_t sizes() const { return static_cast<std::uint32_t>(most.size() / durations); }
    std::uint32_t at(std::uint32_t size, std::uint32_t bins) const {
        return size < sizes() ? most[std::size_t{size} * durations + bins] : 0;
    }
    friend bool operator==(const occurrence_maxima&, const occurrence_maxima&) = default;
};

/// What `mine_patterns` would say of the maxima, by branch and bound: patterns that cannot raise
/// one are not visited. For surrogates, of which nothing else is needed. With `max_occ` what
/// occurs more often is left out here too: it raises no maximum, also not that of smaller sizes.
occurrence_maxima find_occurrence_maxima(const spade_windows& windows, const spade_options& options,
                                         spectrum_kind kind, const execution& run = {});

/// How often each signature was found: Elephant's report "#" or "3d#", without zeros, ascending.
struct signature_count {
    std::uint32_t size = 0;
    std::uint32_t count = 0;
    std::uint32_t duration = 0;  ///< 0 with "#"
    std::uint64_t patterns = 0;

    friend auto operator<=>(const signature_count&, const signature_count&) = default;
};
std::vector<signature_count> count_signatures(const pattern_table& table, spectrum_kind kind);

/// Thresholds by size from the rates (Stella et al. 2022, doi:10.1523/ENEURO.0505-21.2022, as
/// their code computes them): a pattern of z spikes of units that fire at the given percentile of
/// the rates reaches `min_occ` in a Poisson model with the given probability at most.
struct min_occ_recipe {
    double rate_percentile = 90;
    double poisson_percentile = 95;
    std::uint32_t least_occ = 10;
    std::uint32_t least_spikes = 2;
    std::uint32_t most_spikes = 10;  ///< this size and all above it share one rule
};
/// @param spike_counts  spikes of each unit, not clipped
/// @return one rule a size, min_neu = min_spikes
/// @throws invalid_argument if no unit fires or the window is too short.
std::vector<pattern_rule> estimate_rules(std::span<const std::size_t> spike_counts, duration length,
                                         duration bin, std::uint32_t window_bins,
                                         const min_occ_recipe& recipe = {});

}  // namespace spikeweave
